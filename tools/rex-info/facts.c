/*
 * facts.c - stores facts and prints them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/print.h"

const char *facts_find(const struct facts *facts, const char *group, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].group, group) == 0 && strcmp(facts->fact[i].name, name) == 0)
            return facts->fact[i].value;
    return NULL;
}

void facts_add(const char *group, const char *name, const char *value, void *context)
{
    struct facts *facts = context;
    if (facts_find(facts, group, name) != NULL)
        return;
    facts->fact = tool_grow(facts->fact, facts->count, sizeof *facts->fact);
    facts->fact[facts->count++] =
        (struct fact){tool_format("%s", group), tool_format("%s", name), tool_format("%s", value)};
}

void facts_of_environment(struct facts *facts)
{
    static const char *const prefixes[] = {
        "CUDA_",    "KMP_", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "LIBOMPTARGET_",
        "OFFLOAD_", "OMP_", "OMPTARGET_",       "REX_"};
    for (char **variable = environ; *variable != NULL; variable++)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0 &&
                strchr(*variable, '=') != NULL) {
                size_t length = strcspn(*variable, "=");
                char *name = tool_format("%.*s", (int)length, *variable);
                facts_add("environment", name, *variable + length + 1, facts);
                free(name);
            }
}

static int widest(const struct fact *fact, size_t count)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width = strlen(fact[i].name) > width ? strlen(fact[i].name) : width;
    return width < 40 ? (int)width : 40;
}

static void print_group(const struct fact *fact, size_t count, bool json)
{
    if (json) {
        print_json(stdout, fact->group);
        fputs(": {", stdout);
    } else
        printf("%s\n", fact->group);
    for (size_t i = 0; i < count; i++) {
        if (json) {
            fputs(i > 0 ? ", " : "", stdout);
            print_json(stdout, fact[i].name);
            fputs(": ", stdout);
            print_json(stdout, fact[i].value);
            continue;
        }
        fputs("    ", stdout);
        print_text(stdout, fact[i].name);
        if (*fact[i].value != '\0') {
            int padding = widest(fact, count) - (int)strlen(fact[i].name);
            printf("%*s  ", padding > 0 ? padding : 0, "");
            print_text(stdout, fact[i].value);
        }
        putchar('\n');
    }
    fputs(json ? "},\n" : "\n", stdout);
}

/* Prints the facts by group. In FACTS the facts of a group are adjacent. */
void facts_print(const struct facts *facts, bool json)
{
    for (size_t first = 0, next; first < facts->count; first = next) {
        for (next = first;
             next < facts->count && strcmp(facts->fact[next].group, facts->fact[first].group) == 0;
             next++)
            ;
        print_group(facts->fact + first, next - first, json);
    }
}
