/*
 * table.c - a module's entries, found by host key, and the facts of each kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/table.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "module/registration.h"

/* Whether the table lies in another loaded binary than the module; OWN and OTHER get both. */
static bool is_foreign(const struct rex_module *module, Dl_info *own, Dl_info *other)
{
    return dladdr(module, own) != 0 && dladdr(module->entries_begin, other) != 0 &&
           own->dli_fbase != other->dli_fbase;
}

bool rex_table_is_own(const struct rex_module *module)
{
    Dl_info own, other;
    return module->entries_begin != NULL && module->entries_begin != module->entries_end &&
           !is_foreign(module, &own, &other);
}

static int check_shape(const struct rex_module *module, size_t *count)
{
    Dl_info own, other;
    uintptr_t begin = (uintptr_t)module->entries_begin, end = (uintptr_t)module->entries_end;
    if (begin == 0 || end == 0 || begin == end)
        return rex_fail(REX_EENTRIES,
                        "the table of offload entries is empty: no entry was compiled into this "
                        "binary, or the linker dropped the section omp_offloading_entries (link "
                        "with -Wl,-z,nostart-stop-gc), or gcc -flto dropped entries without "
                        "__attribute__((used)) (add it, or link with -rdynamic)");
    if (is_foreign(module, &own, &other))
        return rex_fail(REX_EENTRIES,
                        "%s has no offload entry of its own, and the linker gave it the table of "
                        "%s: no entry was compiled into it",
                        own.dli_fname, other.dli_fname);
    if (end < begin || begin % sizeof(void *) != 0 ||
        (end - begin) % sizeof(struct __tgt_offload_entry) != 0)
        return rex_fail(
            REX_EENTRIES,
            "the table of offload entries, %p to %p, is no array of entries of %zu bytes",
            (void *)module->entries_begin, (void *)module->entries_end,
            sizeof(struct __tgt_offload_entry));
    *count = (end - begin) / sizeof(struct __tgt_offload_entry);
    if (*count > UINT32_MAX / 4)
        return rex_fail(REX_EENTRIES, "the table has %zu entries, more than librex can index",
                        *count);
    return REX_OK;
}

static void free_signatures(struct rex_table *table)
{
    while (table->signatures != NULL) {
        struct rex_signature *signature = table->signatures;
        table->signatures = signature->older;
        free(signature);
    }
}

/* Makes an empty index and room for COUNT kernels. */
static int reserve(struct rex_table *table, size_t count)
{
    size_t slots = 4;
    while (slots < count + count / 2)
        slots *= 2;
    if (table->index == NULL || table->count != count) {
        uint32_t *index = malloc(slots * sizeof *index);
        struct rex_kernel *kernels = calloc(count, sizeof *kernels);
        if (index == NULL || kernels == NULL) {
            free(index);
            free(kernels);
            return rex_fail_memory(slots * sizeof *index + count * sizeof *kernels,
                                   "the index of host keys");
        }
        free(table->index);
        free(table->kernels);
        table->index = index;
        table->kernels = kernels;
    }
    memset(table->index, 0, slots * sizeof *table->index);
    table->count = (uint32_t)count;
    table->mask = (uint32_t)(slots - 1);
    return REX_OK;
}

static int add(struct rex_table *table, uint32_t position)
{
    const struct __tgt_offload_entry *entry = &table->entries[position];
    if (entry->name == NULL || *entry->name == '\0')
        return rex_fail(REX_EENTRIES, "offload entry %u has no name", position);
    if (entry->addr == NULL)
        return rex_fail(REX_EENTRIES, "offload entry %u (\"%s\") has no host key", position,
                        entry->name);
    const struct rex_kernel *other = rex_table_find(table, entry->addr);
    if (other != NULL)
        return rex_fail(REX_EKEY,
                        "offload entries %u (\"%s\") and %u (\"%s\") have the same host key",
                        (unsigned)(other - table->kernels),
                        table->entries[other - table->kernels].name, position, entry->name);
    uint32_t at = rex_hash_address(entry->addr) & table->mask;
    while (table->index[at] != 0)
        at = (at + 1) & table->mask;
    table->index[at] = position + 1;
    return REX_OK;
}

static int make_index(struct rex_table *table, const struct rex_module *module, size_t count)
{
    int result = reserve(table, count);
    table->entries = module->entries_begin;
    for (uint32_t i = 0; result == REX_OK && i < count; i++)
        result = add(table, i);
    return result;
}

/*
 * Whether the index has the module's entries as they are. Then it is not changed, because another
 * thread may look for a key in it while the module is registered again (rex_modules_find()).
 */
static bool is_indexed(const struct rex_table *table, const struct rex_module *module, size_t count)
{
    bool same = table->entries == module->entries_begin && table->count == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = table->entries[i].name != NULL && *table->entries[i].name != '\0' &&
               rex_table_find(table, table->entries[i].addr) == &table->kernels[i];
    return same;
}

int rex_table_build(struct rex_table *table, const struct rex_module *module)
{
    size_t count = 0;
    int result = check_shape(module, &count);
    if (result != REX_OK)
        return result;
    free_signatures(table);
    if (!is_indexed(table, module, count))
        result = make_index(table, module, count);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; i < count; i++)
        table->kernels[i] = (struct rex_kernel){.entry = &table->entries[i]};
    return REX_OK;
}

void rex_table_free(struct rex_table *table)
{
    free_signatures(table);
    free(table->index);
    free(table->kernels);
}
