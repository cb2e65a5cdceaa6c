/*
 * sourcecheck.c - checks generated sources before they are compiled: entries, host keys and kernels
 * of all files together.
 *
 * The checks work on tokens, so the names of kernels and the line breaks may be any. The checks
 * compare the sources only with one another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sourcecheck.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "hostfile.h"
#include "items.h"
#include "names.h"
#include "stem.h"

#define FOUND(finding, item, near, ...) \
    report_finding_at(index->report, FINDING_##finding, (item)->at, near, __VA_ARGS__)

/* Lists of names. The number of a name in its list is the number of its item in `items`. */
enum list { KEYS, ENTRIES, KERNELS, LISTS };

struct index {
    const struct items *items;
    struct report *report;
    struct names lists[LISTS];
    size_t devices, entries, uses;
    /*
     * for the lists ENTRIES and KERNELS: the first ITEM_UNSEEN, which is source text that may hide
     * names of that list; NULL if there is none
     */
    const struct item *unseen[LISTS];
};

static void add_names(struct index *index, const struct item *item)
{
    bool entry = item->kind == ITEM_ENTRY, kernel = item->kind == ITEM_KERNEL;
    names_add(&index->lists[KEYS], entry ? item->key : NULL);
    names_add(&index->lists[ENTRIES], entry ? item->name : NULL);
    names_add(&index->lists[KERNELS], kernel ? item->name : NULL);
    index->entries += entry;
    index->uses += item->kind == ITEM_KEY;
    const struct item **unseen = &index->unseen[item->placed ? KERNELS : ENTRIES];
    if (item->kind == ITEM_UNSEEN && *unseen == NULL)
        *unseen = item;
}

static bool has(const struct index *index, enum list list, const char *name)
{
    return names_find(&index->lists[list], name) != SIZE_MAX;
}

/* Returns an earlier item with NAME, if neither that item nor ITEM is inside an #if; else NULL. */
static const struct item *other(const struct index *index, enum list list, const char *name,
                                const struct item *item)
{
    size_t number = name != NULL ? names_find(&index->lists[list], name) : SIZE_MAX;
    const struct item *first = number != SIZE_MAX ? &index->items->list[number] : item;
    return first < item && !first->conditional && !item->conditional ? first : NULL;
}

static void check_entry(const struct index *index, const struct item *entry)
{
    const char *symbol = entry->symbol, *key = entry->key, *name = entry->name, *stem;
    const struct item *by_key = other(index, KEYS, key, entry),
                      *by_name = other(index, ENTRIES, name, entry);
    size_t length;
    if (!entry->placed && index->unseen[ENTRIES] == NULL)
        FOUND(SECTION_ATTRIBUTE, entry, NULL,
              "entry %s lacks __attribute__((section(\"omp_offloading_entries\")))", symbol);
    if (key == NULL || name == NULL)
        FOUND(ENTRY_EMPTY, entry, NULL, "entry %s has no %s", symbol, key == NULL ? "key" : "name");
    else if (!name_stem(key, KEY_SUFFIX, &stem, &length))
        FOUND(KEY_SYMBOL, entry, NULL, "entry %s: its key is %s, whose name does not end in id__",
              symbol, key);
    else if (strncmp(name, stem, length) != 0 || strcmp(name + length, NAME_SUFFIX) != 0)
        FOUND(NAME_DRIFT, entry, NULL,
              "entry %s: its key is %s, so its kernel must be named %.*skernel__, but is named %s",
              symbol, key, (int)length, stem, name);
    bool is_twice = by_key != NULL && strcmp(by_key->symbol, symbol) == 0;
    if (is_twice)
        FOUND(KEY_SHARED, entry, NULL, "entry %s is defined a second time", symbol);
    else if (by_key != NULL)
        FOUND(KEY_SHARED, entry, NULL, "entry %s has the same key as entry %s: %s", symbol,
              by_key->symbol, key);
    if (by_name != NULL && !(is_twice && by_name == by_key))
        FOUND(NAME_SHARED, entry, NULL, "entry %s names the same kernel as entry %s: %s", symbol,
              by_name->symbol, name);
    if (name != NULL && index->devices > 0 && index->unseen[KERNELS] == NULL &&
        !has(index, KERNELS, name))
        FOUND(NO_KERNEL, entry, names_nearest(&index->lists[KERNELS], name, index->report),
              "entry %s names the kernel %s, which no device file defines", symbol, name);
}

static void check_key(const struct index *index, const struct item *use)
{
    if (use->key == NULL)
        FOUND(HOST_KEY_DRIFT, use, NULL, "the launch passes no host key");
    else if (index->unseen[ENTRIES] == NULL && !has(index, KEYS, use->key))
        FOUND(HOST_KEY_DRIFT, use, names_nearest(&index->lists[KEYS], use->key, index->report),
              "the host key %s is in no entry", use->key);
}

static void check_kernel(const struct index *index, const struct item *kernel)
{
    const char *name = kernel->name;
    bool in_entry = has(index, ENTRIES, name);
    if (in_entry && !kernel->placed)
        FOUND(NAME_DRIFT, kernel, NULL,
              "the kernel %s is not extern \"C\", so the image has another name for it", name);
    if (!in_entry && index->unseen[ENTRIES] == NULL)
        FOUND(NO_ENTRY, kernel, names_nearest(&index->lists[ENTRIES], name, index->report),
              "the kernel %s is in no entry", name);
}

/* If a file or a definition is missing, adds a note that comparisons were skipped. */
static void note_unseen(const struct index *index, const char *host)
{
    const char *lack = host == NULL                        ? "host file given"
                       : index->devices == 0               ? "device file given"
                       : index->entries + index->uses == 0 ? "host file has an entry or a host key"
                                                           : NULL;
    if (lack != NULL)
        report_note(index->report, host != NULL ? host : "rex-check",
                    "no %s: kernels and entries are not compared", lack);
    for (enum list i = ENTRIES; i <= KERNELS; i++) {
        const char *what = i == ENTRIES ? "entries" : "kernels";
        if (index->unseen[i] != NULL)
            report_note(
                index->report, index->unseen[i]->at.path,
                "line %zu may define %s that rex-check cannot see, so missing %s are not reported",
                index->unseen[i]->at.line, what, what);
    }
}

static void check_all(const struct tokens *hosts, size_t count, struct index *index)
{
    const struct items *items = index->items;
    for (size_t i = 0; i < items->count; i++)
        add_names(index, &items->list[i]);
    for (enum list i = 0; i < LISTS; i++)
        names_sort(&index->lists[i]);
    for (size_t i = 0; i < count; i++)
        check_includes(&hosts[i], index->report);
    /* A program without keys and entries may find its kernels by name. */
    bool keys = index->entries > 0 || index->uses > 0;
    check_init(hosts, count, keys, index->report);
    if (keys && index->entries == 0 && index->unseen[ENTRIES] == NULL && count > 0)
        report_finding(index->report, FINDING_NO_ENTRIES, hosts->path, NULL,
                       "no host file defines an entry");
    for (size_t i = 0; keys && i < items->count; i++) {
        const struct item *item = &items->list[i];
        if (item->kind == ITEM_ENTRY)
            check_entry(index, item);
        else if (item->kind == ITEM_KEY)
            check_key(index, item);
        else if (item->kind == ITEM_KERNEL)
            check_kernel(index, item);
    }
    note_unseen(index, count > 0 ? hosts->path : NULL);
    for (enum list i = 0; i < LISTS; i++)
        names_free(&index->lists[i]);
}

#define BLOCK ((size_t)64 << 10)
#define MOST_BLOCKS 4096

/*
 * Reads FILE, at most MOST_BLOCKS blocks of BLOCK bytes. Returns NULL, or the reason why FILE
 * cannot be used.
 */
static const char *read_all(FILE *file, struct source *source)
{
    size_t got = BLOCK;
    for (size_t blocks = 0; got == BLOCK; blocks++) {
        if (blocks == MOST_BLOCKS)
            return "it is larger than any source";
        source->bytes = tool_grow(source->bytes, blocks, BLOCK);
        got = fread(source->bytes + source->size, 1, BLOCK, file);
        if (memchr(source->bytes + source->size, '\0', got) != NULL)
            return "it is not a source: --source reads C, C++ and CUDA files";
        source->size += got;
    }
    return ferror(file) ? strerror(errno) : NULL;
}

int source_read(struct source *source, const char *path, char why[WHY_MAX])
{
    FILE *file = fopen(path, "re");
    *source = (struct source){.path = path};
    const char *reason = file != NULL ? read_all(file, source) : strerror(errno);
    if (file != NULL)
        fclose(file);
    snprintf(why, WHY_MAX, "%.*s: %s", PATH_MAX, path, reason != NULL ? reason : "");
    return reason == NULL ? 0 : -1;
}

void check_sources(const struct source *sources, size_t count, struct report *report)
{
    struct tokens *hosts = tool_alloc(count + 1, sizeof *hosts);
    struct items items = {.count = 0};
    struct index index = {.items = &items, .report = report};
    size_t host_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct tokens *tokens = &hosts[host_count];
        const char *dot = strrchr(sources[i].path, '.');
        *tokens = (struct tokens){.path = sources[i].path};
        tokens_read(tokens, sources[i].bytes, sources[i].size);
        if (dot != NULL && strcmp(dot, ".cu") == 0) {
            items_read_device(&items, tokens);
            index.devices++;
            free(tokens->list);
        } else {
            items_read_host(&items, tokens);
            host_count++;
        }
    }
    check_all(hosts, host_count, &index);
    items_free(&items);
    while (host_count > 0)
        free(hosts[--host_count].list);
    free(hosts);
}
