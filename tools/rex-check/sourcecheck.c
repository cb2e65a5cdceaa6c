/*
 * sourcecheck.c - check generated sources before they are compiled: the entries and kernels of all
 * files together.
 *
 * Facts that hold whatever the generator calls its kernels and wherever it breaks its lines;
 * nothing is compared with a kept output.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sourcecheck.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "columncheck.h"
#include "common/memory.h"
#include "constants.h"
#include "hostfile.h"
#include "kernels.h"
#include "names.h"
#include "regioncheck.h"
#include "rowcheck.h"
#include "source.h"
#include "stem.h"

/* ---- entries --------------------------------------------------------------------------------- */

static bool has_stem(const char *name, const char *suffix, const char *stem, size_t length)
{
    const char *own;
    size_t own_length;
    return name_stem(name, suffix, &own, &own_length) && own_length == length &&
           memcmp(own, stem, length) == 0;
}

static void check_entry(const struct source_entry *entry, struct report *report)
{
    const char *stem;
    size_t length;
    if (!entry->in_section)
        report_finding_at(report, FINDING_SECTION_ATTRIBUTE, entry->at.path, entry->at.line, NULL,
                          "entry %s lacks __attribute__((section(\"omp_offloading_entries\")))",
                          entry->symbol);
    if (entry->key == NULL || entry->name == NULL) {
        report_finding_at(report, FINDING_ENTRY_EMPTY, entry->at.path, entry->at.line, NULL,
                          "entry %s has no %s", entry->symbol, entry->key == NULL ? "key" : "name");
        return;
    }
    if (entry->global)
        return;
    if (!name_stem(entry->key, "id__", &stem, &length))
        report_finding_at(report, FINDING_KEY_SYMBOL, entry->at.path, entry->at.line, NULL,
                          "entry %s: its key is %s, which is not called *id__", entry->symbol,
                          entry->key);
    else if (!has_stem(entry->name, "kernel__", stem, length))
        report_finding_at(report, FINDING_NAME_DRIFT, entry->at.path, entry->at.line, NULL,
                          "entry %s: its key is %s, but it names the kernel %s, not %.*skernel__",
                          entry->symbol, entry->key, entry->name, (int)length, stem);
    else if (!has_stem(entry->symbol, "omp_offload_entry__", stem, length))
        report_finding_at(report, FINDING_NAME_DRIFT, entry->at.path, entry->at.line, NULL,
                          "entry %s has key and name of another stem, %.*s", entry->symbol,
                          (int)length, stem);
}

/*
 * The same numbers as in SOURCES; entries of globals, and what an entry does not say, have no name.
 */
struct index {
    struct names keys, names, kernels;
};

static struct index index_of(const struct sources *sources)
{
    struct index index = {0};
    for (size_t i = 0; i < sources->entry_count; i++) {
        const struct source_entry *entry = &sources->entries[i];
        names_add(&index.keys, entry->global ? NULL : entry->key);
        names_add(&index.names, entry->global ? NULL : entry->name);
    }
    for (size_t i = 0; i < sources->kernel_count; i++)
        names_add(&index.kernels, sources->kernels[i].name);
    names_sort(&index.keys);
    names_sort(&index.names);
    names_sort(&index.kernels);
    return index;
}

static void index_free(struct index *index)
{
    names_free(&index->keys);
    names_free(&index->names);
    names_free(&index->kernels);
}

static void check_twice(const struct sources *sources, const struct index *index, size_t number,
                        struct report *report)
{
    const struct source_entry *entry = &sources->entries[number];
    size_t key = entry->key != NULL ? names_find(&index->keys, entry->key) : SIZE_MAX;
    size_t name = entry->name != NULL ? names_find(&index->names, entry->name) : SIZE_MAX;
    if (key < number)
        report_finding_at(report, FINDING_KEY_SHARED, entry->at.path, entry->at.line, NULL,
                          "entry %s has the key of %s, %s", entry->symbol,
                          sources->entries[key].symbol, entry->key);
    if (name < number)
        report_finding_at(report, FINDING_NAME_SHARED, entry->at.path, entry->at.line, NULL,
                          "entry %s names the kernel of %s, %s", entry->symbol,
                          sources->entries[name].symbol, entry->name);
}

static void check_uses(const struct sources *sources, const struct index *index,
                       struct report *report)
{
    for (size_t i = 0; i < sources->use_count; i++) {
        const struct source_use *use = &sources->uses[i];
        if (names_find(&index->keys, use->key) == SIZE_MAX)
            report_finding_at(report, FINDING_HOST_KEY_DRIFT, use->at.path, use->at.line,
                              names_nearest(&index->keys, use->key, report),
                              "the host key %s is in no entry", use->key);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void check_kernel(const struct sources *sources, const struct index *index, size_t number,
                         struct report *report)
{
    const struct source_kernel *kernel = &sources->kernels[number];
    size_t first = names_find(&index->kernels, kernel->name);
    if (first < number)
        report_finding_at(report, FINDING_NAME_SHARED, kernel->at.path, kernel->at.line, NULL,
                          "the kernel %s is defined in %s:%zu too", kernel->name,
                          sources->kernels[first].at.path, sources->kernels[first].at.line);
    if (!kernel->c_linkage)
        report_finding_at(report, FINDING_NAME_DRIFT, kernel->at.path, kernel->at.line, NULL,
                          "the kernel %s is not extern \"C\": in the image it has another name",
                          kernel->name);
    if (names_find(&index->names, kernel->name) == SIZE_MAX)
        report_finding_at(report, FINDING_NO_ENTRY, kernel->at.path, kernel->at.line,
                          names_nearest(&index->names, kernel->name, report),
                          "the kernel %s is in no entry", kernel->name);
}

static void check_has_kernel(const struct index *index, const struct source_entry *entry,
                             struct report *report)
{
    if (names_find(&index->kernels, entry->name) == SIZE_MAX)
        report_finding_at(report, FINDING_NO_KERNEL, entry->at.path, entry->at.line,
                          names_nearest(&index->kernels, entry->name, report),
                          "entry %s names the kernel %s, which no device file defines",
                          entry->symbol, entry->name);
}

/* ---- launches and data calls ----------------------------------------------------------------- */

/* The kernel that CALL launches; NULL: not known. */
static const struct source_kernel *launched(const struct sources *sources,
                                            const struct index *index, const struct calls *calls,
                                            const struct call *call)
{
    char *key = call->key != NONE
                    ? source_key(calls->variables->tokens, key_in(calls->variables, call->key))
                    : NULL;
    size_t entry = key != NULL ? names_find(&index->keys, key) : SIZE_MAX;
    const char *name = entry != SIZE_MAX ? sources->entries[entry].name : NULL;
    size_t kernel = name != NULL ? names_find(&index->kernels, name) : SIZE_MAX;
    free(key);
    return kernel != SIZE_MAX ? &sources->kernels[kernel] : NULL;
}

static void check_host_calls(const struct host *hosts, size_t count, const struct sources *sources,
                             const struct index *index)
{
    struct variables *variables = tool_alloc(count, sizeof *variables);
    struct calls *calls = tool_alloc(count, sizeof *calls);
    for (size_t i = 0; i < count; i++) {
        variables_read(&variables[i], hosts[i].tokens);
        constants_find(&variables[i]);
        calls_read(&calls[i], &variables[i]);
        check_columns(&hosts[i], &calls[i]);
        for (size_t k = 0; k < calls[i].count; k++)
            check_parameters(&hosts[i], &calls[i], &calls[i].list[k],
                             launched(sources, index, &calls[i], &calls[i].list[k]));
        check_freed(&hosts[i], &calls[i]);
    }
    check_regions(hosts, calls, count);
    for (size_t i = 0; i < count; i++) {
        calls_free(&calls[i]);
        variables_free(&variables[i]);
    }
    free(calls);
    free(variables);
}

static void check_all(const struct host *hosts, size_t count, const struct sources *sources,
                      struct report *report)
{
    size_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        check_includes(&hosts[i]);
        calls = check_calls(&hosts[i], calls);
    }
    check_missing_init(hosts, count, calls);
    struct index index = index_of(sources);
    for (size_t i = 0; i < sources->entry_count; i++) {
        check_entry(&sources->entries[i], report);
        check_twice(sources, &index, i, report);
        if (sources->device_files > 0 && sources->entries[i].name != NULL &&
            !sources->entries[i].global)
            check_has_kernel(&index, &sources->entries[i], report);
    }
    check_uses(sources, &index, report);
    for (size_t i = 0; count > 0 && i < sources->kernel_count; i++)
        check_kernel(sources, &index, i, report);
    check_host_calls(hosts, count, sources, &index);
    index_free(&index);
    if (count == 0 || sources->device_files == 0)
        report_note(report, count == 0 ? "rex-check" : hosts->path,
                    "no %s file given: kernels and entries are not compared",
                    count == 0 ? "host" : "device");
    else if (sources->entry_count == 0)
        report_finding(report, FINDING_NO_ENTRIES, hosts->path, NULL,
                       "no host file defines an entry");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_device(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".cu") == 0;
}

void check_texts(const char *const *paths, const struct source_text *texts, size_t count,
                 struct report *report)
{
    struct tokens *tokens = tool_alloc(count, sizeof *tokens);
    struct host *hosts = tool_alloc(count, sizeof *hosts);
    struct sources sources = {0};
    size_t host_count = 0;
    for (size_t i = 0; i < count; i++) {
        tokens_read(&tokens[i], texts[i].bytes, texts[i].size);
        if (is_device(paths[i]))
            kernels_read(&sources, paths[i], &tokens[i]);
        else {
            source_read_host(&sources, paths[i], &tokens[i]);
            hosts[host_count++] = (struct host){paths[i], &tokens[i], report};
        }
    }
    check_all(hosts, host_count, &sources, report);
    for (size_t i = 0; i < count; i++)
        free(tokens[i].list);
    sources_free(&sources);
    free(hosts);
    free(tokens);
}

int check_source(const char *const *paths, size_t count, struct report *report, char why[256])
{
    struct source_text *texts = tool_alloc(count, sizeof *texts);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = source_text_read(paths[i], &texts[i], why);
    if (result == 0)
        check_texts(paths, texts, count, report);
    for (size_t i = 0; i < count; i++)
        free(texts[i].bytes);
    free(texts);
    return result;
}
