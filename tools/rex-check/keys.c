/*
 * keys.c - finds host keys that are in no entry: a launch with such a key finds no kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "names.h"

/*
 * Names of host keys:
 * - in_entry: keys that the checked file defines, and to which an entry of this file points;
 * - imported: keys that another file defines, and to which an entry of the checked file points;
 * - referred: keys that the checked file defines, and to which a launch site refers (struct site).
 */
struct known {
    struct names in_entry, imported, referred;
};

static void know(struct known *known, const struct program *program)
{
    *known = (struct known){0};
    for (size_t i = 0; i < program->key_count; i++)
        if (program->keys[i].in_entry)
            names_add(&known->in_entry, program->keys[i].name);
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].key.kind == TARGET_IMPORT)
            names_add(&known->imported, program->rows[i].key.symbol);
    for (size_t i = 0; i < program->site_count; i++)
        if (!program->sites[i].elsewhere)
            names_add(&known->referred, program->sites[i].key);
    names_sort(&known->in_entry);
    names_sort(&known->imported);
    names_sort(&known->referred);
}

/* Returns the place of SITE: "main+0x1c", or an offset in a section. The caller frees the text. */
static char *where(const struct site *site)
{
    if (site->function != NULL)
        return tool_format("%s+0x%llx", site->function, (unsigned long long)site->into);
    if (site->section != NULL)
        return tool_format("%s+0x%llx", site->section, (unsigned long long)site->place.offset);
    return tool_format("data at 0x%llx", (unsigned long long)site->place.offset);
}

static void report_site(const struct program *program, const struct known *known,
                        const struct site *site, struct report *report)
{
    char *place = where(site);
    if (!site->elsewhere)
        report_finding(report, FINDING_HOST_KEY_DRIFT, program->path,
                       names_nearest(&known->in_entry, site->key, report),
                       "%s refers to the host key %s, which is in no entry", place, site->key);
    else if (names_find(&known->imported, site->key) == SIZE_MAX)
        report_note(
            report, program->path,
            "%s refers to the host key %s, which another file defines: check the linked program",
            place, site->key);
    free(place);
}

static void report_key(const struct program *program, const struct known *known,
                       const struct key *key, struct report *report)
{
    const char *told = program->relocations
                           ? "this file has no reference to the key, but other files may have one"
                           : "no use of the key was found in this file";
    report_finding(report, FINDING_HOST_KEY_DRIFT, program->path,
                   names_nearest(&known->in_entry, key->name, report),
                   "the host key %s is in no entry, so a launch with it would fail; %s", key->name,
                   told);
}

static int compare_sites(const void *a, const void *b)
{
    const struct site *one = *(const struct site *const *)a,
                      *other = *(const struct site *const *)b;
    int order = strcmp(one->key, other->key);
    return order != 0 ? order : elf_compare_places(one->place, other->place);
}

/*
 * Adds one remark for each key and function, even if the function takes the key's address several
 * times.
 */
static void report_sites(const struct program *program, const struct known *known,
                         struct report *report)
{
    const struct site **sites = tool_alloc(program->site_count, sizeof *sites);
    for (size_t i = 0; i < program->site_count; i++)
        sites[i] = &program->sites[i];
    qsort(sites, program->site_count, sizeof *sites, compare_sites);
    for (size_t i = 0; i < program->site_count; i++)
        if (i == 0 || sites[i]->function == NULL || strcmp(sites[i]->key, sites[i - 1]->key) != 0 ||
            sites[i]->function != sites[i - 1]->function)
            report_site(program, known, sites[i], report);
    free(sites);
}

void check_keys(const struct program *program, struct report *report)
{
    struct known known;
    know(&known, program);
    report_sites(program, &known, report);
    for (size_t i = 0; i < program->key_count; i++) {
        const struct key *key = &program->keys[i];
        if (!key->in_entry && key->size <= 1 && names_find(&known.referred, key->name) == SIZE_MAX)
            report_key(program, &known, key, report);
    }
    names_free(&known.in_entry);
    names_free(&known.imported);
    names_free(&known.referred);
}
