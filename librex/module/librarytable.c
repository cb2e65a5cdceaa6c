/*
 * librarytable.c - entries that librex makes from what is in an image, where no program has brought
 * any.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/librarytable.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Between the shadows of globals, so that each can hold what any type asks for. */
#define ALIGNMENT 16

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- which symbols --------------------------------------------------------------------------- */

/* On a GPU the driver knows the globals. */
static bool is_wanted(const struct rex_view *view, const struct rex_image_symbol *symbol)
{
    return symbol->kernel || (view->kind == REX_IMAGE_HOST && symbol->size > 0);
}

/* The next symbol that gets an entry; *AT is what was looked at. NULL behind the last. */
static const struct rex_image_symbol *next(const struct rex_view *view, size_t *at)
{
    size_t count = view->position_count > 0 ? view->position_count : view->count;
    while (*at < count) {
        size_t now = (*at)++;
        const struct rex_image_symbol *symbol = view->position_count > 0
                                                    ? rex_view_find(view, view->positions[now])
                                                    : &view->symbols[now];
        if (symbol != NULL && is_wanted(view, symbol))
            return symbol;
    }
    return NULL;
}

/* ---- the block ------------------------------------------------------------------------------- */

/*
 * What the host has of a symbol: a byte for the key of a kernel, and of a global as much as there
 * is on the device, though nothing is ever copied.
 */
static size_t shadow(const struct rex_image_symbol *symbol)
{
    return symbol->kernel ? 1 : round_up(symbol->size);
}

struct sizes {
    size_t entries, names, shadows;
};

static struct sizes measure(const struct rex_view *view)
{
    struct sizes sizes = {0};
    const struct rex_image_symbol *symbol;
    for (size_t at = 0; (symbol = next(view, &at)) != NULL; sizes.entries++) {
        sizes.names += strlen(symbol->name) + 1;
        sizes.shadows += symbol->kernel ? 1 : shadow(symbol) + ALIGNMENT;
    }
    return sizes;
}

static void fill(struct rex_library_table *table, const struct rex_view *view, struct sizes sizes)
{
    char *name = (char *)(table->entries + sizes.entries), *key = name + sizes.names;
    const struct rex_image_symbol *symbol;
    for (size_t at = 0; (symbol = next(view, &at)) != NULL; table->count++) {
        size_t length = strlen(symbol->name) + 1;
        if (!symbol->kernel)
            key = (char *)round_up((uintptr_t)key);
        table->entries[table->count] = (struct __tgt_offload_entry){
            key, memcpy(name, symbol->name, length), symbol->kernel ? 0 : symbol->size, 0, 0};
        table->symbol[table->count] = (uint32_t)(symbol - view->symbols);
        table->entry[symbol - view->symbols] = &table->entries[table->count];
        name += length;
        key += shadow(symbol);
    }
}

int rex_library_table_make(struct rex_library_table *table, const struct rex_view *view)
{
    struct sizes sizes = measure(view);
    size_t size = sizes.entries * sizeof *table->entries + sizes.names + sizes.shadows + ALIGNMENT;
    *table = (struct rex_library_table){
        .entries = calloc(1, size),
        .symbol = calloc(sizes.entries + 1, sizeof *table->symbol),
        .entry = calloc(view->count + 1, sizeof(struct __tgt_offload_entry *))};
    if (table->entries == NULL || table->symbol == NULL || table->entry == NULL) {
        rex_library_table_free(table, true);
        return rex_fail_memory(size, "the entries of a library");
    }
    fill(table, view, sizes);
    return REX_OK;
}

void rex_library_table_free(struct rex_library_table *table, bool entries)
{
    if (entries)
        free(table->entries);
    free(table->symbol);
    free(table->entry);
    *table = (struct rex_library_table){0};
}
