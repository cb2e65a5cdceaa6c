/*
 * keys.c - host keys that are in no entry: a launch with one finds no kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "common/memory.h"
#include "common/nearest.h"

#define MOST_COMPARED 200 /* findings that get a nearest name: each takes a look at all keys */

static const char *nearest_key(const struct program *program, const char *key, const struct report *report)
{
    struct nearest nearest = {.wanted = key};
    for (size_t i = 0; report->findings < MOST_COMPARED && i < program->key_count; i++)
        if (program->keys[i].in_entry)
            nearest_try(&nearest, program->keys[i].name);
    return nearest.name;
}

static bool imported_by_entry(const struct program *program, const char *key)
{
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].key.kind == TARGET_IMPORT && strcmp(program->rows[i].key.symbol, key) == 0)
            return true;
    return false;
}

/* "main+0x1c", or the section. Of malloc(). */
static char *where(const struct site *site)
{
    if (site->function != NULL)
        return tool_format("%s+0x%llx", site->function, (unsigned long long)site->into);
    if (site->section != NULL)
        return tool_format("%s+0x%llx", site->section, (unsigned long long)site->place.offset);
    return tool_format("data at 0x%llx", (unsigned long long)site->place.offset);
}

static void report_site(const struct program *program, const struct site *site, struct report *report)
{
    char *place = where(site);
    if (!site->elsewhere)
        report_finding(report, FINDING_HOST_KEY_DRIFT, program->path, nearest_key(program, site->key, report),
                       "%s refers to the host key %s, which is in no entry", place, site->key);
    else if (!imported_by_entry(program, site->key))
        report_note(report, program->path, "%s refers to the host key %s, which another file defines: compare the linked program", place,
                    site->key);
    free(place);
}

static bool has_site(const struct program *program, const char *key)
{
    for (size_t i = 0; i < program->site_count; i++)
        if (program->sites[i].key == key)
            return true;
    return false;
}

static void report_key(const struct program *program, const struct key *key, struct report *report)
{
    const char *told =
        program->relocations ? "nothing here refers to it, other files may" : "told by its symbol: no instruction seen takes its address";
    report_finding(report, FINDING_HOST_KEY_DRIFT, program->path, nearest_key(program, key->name, report),
                   "the host key %s is in no entry: a launch with it fails (%s)", key->name, told);
}

static int compare_sites(const void *a, const void *b)
{
    const struct site *one = *(const struct site *const *)a, *other = *(const struct site *const *)b;
    int order = strcmp(one->key, other->key);
    return order != 0 ? order : elf_compare_places(one->place, other->place);
}

/* One remark for a key and a function: a kernel's address is often taken by two instructions. */
static void report_sites(const struct program *program, struct report *report)
{
    const struct site **sites = tool_alloc(program->site_count, sizeof *sites);
    for (size_t i = 0; i < program->site_count; i++)
        sites[i] = &program->sites[i];
    qsort(sites, program->site_count, sizeof *sites, compare_sites);
    for (size_t i = 0; i < program->site_count; i++)
        if (i == 0 || sites[i]->function == NULL || strcmp(sites[i]->key, sites[i - 1]->key) != 0 ||
            sites[i]->function != sites[i - 1]->function)
            report_site(program, sites[i], report);
    free(sites);
}

void check_keys(const struct program *program, struct report *report)
{
    report_sites(program, report);
    for (size_t i = 0; i < program->key_count; i++)
        if (!program->keys[i].in_entry && program->keys[i].size <= 1 && !has_site(program, program->keys[i].name))
            report_key(program, &program->keys[i], report);
}
