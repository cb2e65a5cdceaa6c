/*
 * contract.c - the names and numbers that a code generator writes itself (rex-codegen(7)), and what
 * librex adapts for each release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "contract.h"

#include <stdio.h>
#include <string.h>

#include <rex.h>
#include <rex/inspect.h>

#include "common/print.h"

#define OLDEST 14 /* oldest release of LLVM that librex knows */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- names and numbers of a generator -------------------------------------------------------- */

/*
 * The facts of rex-codegen(7): the name of each fact, its value in JSON, and its value for people.
 */
static const struct {
    const char *name, *json, *text;
} facts[] = {
    {"stem", "{\"entry\": \"omp_offload_entry__\", \"key\": \"id__\", \"kernel\": \"kernel__\"}",
     "STEMid__, STEMomp_offload_entry__, STEMkernel__"},
    {"entry_section", "\"omp_offloading_entries\"", "omp_offloading_entries"},
    {"entry_alignment", "8", "8"},
    {"entry_flags", "{\"global\": 0, \"kernel\": 0, \"link\": 1}",
     "kernel 0, global 0, declare target link 1"},
    {"images", "{\"device\": \"" REX_CUBIN_NAME "\", \"host\": \"" REX_HOST_IMAGE_NAME "\"}",
     REX_CUBIN_NAME ", " REX_HOST_IMAGE_NAME},
    {"link", "[\"-lrex\", \"-Wl,-z,nostart-stop-gc\"]", "-lrex -Wl,-z,nostart-stop-gc"},
    {"member_shift", "48", "48"},
    {"module", "\"rex_this_module\"", "rex_this_module"},
    {"packet_version", "3", "3"},
    {"parameter_width", "8", "8"},
    {"soname", "\"" SONAME "\"", SONAME},
};

_Static_assert(REX_MAP_MEMBER_OF(0) == INT64_C(1) << 48, "member_shift");

void contract_print(bool json)
{
    for (size_t i = 0; i < COUNT(facts); i++)
        if (json)
            printf("\"%s\": %s,\n", facts[i].name, facts[i].json);
        else
            printf("%-18s %s\n", facts[i].name, facts[i].text);
    fputs(json ? "" : "\n", stdout);
}

/* ---- releases -------------------------------------------------------------------------------- */

struct adapted {
    int release;
    bool json, is_first;
};

static void begin(const struct adapted *adapted)
{
    if (adapted->json)
        printf("%s\n    \"%d\": {", adapted->release > OLDEST ? "," : "", adapted->release);
    else
        printf("LLVM %d\n", adapted->release);
}

static void print_adapted(const char *group, const char *name, const char *value, void *context)
{
    struct adapted *adapted = context;
    if (strcmp(group, "adapted") != 0)
        return;
    if (adapted->is_first)
        begin(adapted);
    if (adapted->json) {
        fputs(adapted->is_first ? "\n        " : ",\n        ", stdout);
        print_json(stdout, name);
        fputs(": ", stdout);
        print_json(stdout, value);
    } else {
        printf("    %s: %s\n", name, value);
    }
    adapted->is_first = false;
}

/* Prints every release that librex knows, with the adaptations for it. */
void contract_print_releases(bool json)
{
    struct adapted adapted = {OLDEST, json, true};
    fputs(json ? "\"releases\": {" : "", stdout);
    while (rex_info(adapted.release, print_adapted, &adapted) == REX_OK) {
        fputs(json ? "}" : "\n", stdout);
        adapted = (struct adapted){adapted.release + 1, json, true};
    }
    fputs(json ? "},\n" : "", stdout);
}
