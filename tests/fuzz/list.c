/*
 * list.c - the public list of the images in a file (rex/inspect.h), and a view of each: fatbins, OffloadBinaries, one in the other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/list.h"

#include "fuzz.h"

#define MOST_UNPACKED ((size_t)1 << 16) /* more is slow */
#define MOST_VIEWED 8

static void view_item(const struct rex_image_list *list, size_t index)
{
    struct rex_image_view *view = NULL;
    if (rex_image_view_open(&view, list, index, "bytes") != REX_OK) {
        FUZZ_CHECK(view == NULL);
        return;
    }
    for (size_t i = 0; i < view->symbol_count; i++)
        FUZZ_CHECK(rex_image_view_find(view, view->symbols[i].name) != NULL);
    rex_image_view_close(view);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_image_list *list = NULL;
    char target[REX_TARGET_MAX];
    int result = rex_image_list_open(&list, bytes, size, "bytes");
    FUZZ_CHECK((result == REX_OK) == (list != NULL));
    if (result != REX_OK)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const struct rex_image_item *item = &list->items[i];
        FUZZ_CHECK(item->offset <= size && item->stored <= size - item->offset);
        FUZZ_CHECK(item->compressed || item->stored == item->size);
        fuzz_read_string(rex_item_target(item, target));
        if (i < MOST_VIEWED && item->size <= MOST_UNPACKED)
            view_item(list, i);
    }
    FUZZ_CHECK(list->count > 0 && rex_image_view_open(&(struct rex_image_view *){NULL}, list, list->count, "bytes") != REX_OK);
    rex_image_list_close(list);
}
