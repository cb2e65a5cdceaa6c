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
    if (rex_image_list_view(&view, list, index, "bytes") != REX_OK) {
        FUZZ_CHECK(view == NULL);
        return;
    }
    const struct rex_image_symbol *symbol;
    for (size_t i = 0; (symbol = rex_image_view_symbol(view, i)) != NULL; i++)
        FUZZ_CHECK(rex_image_view_find(view, symbol->name) != NULL);
    rex_image_view_close(view);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_image_list *list = NULL;
    const struct rex_image_item *item;
    char target[REX_TARGET_MAX];
    size_t count = 0;
    int result = rex_image_list_open(&list, bytes, size, "bytes");
    FUZZ_CHECK((result == REX_OK) == (list != NULL));
    if (result != REX_OK)
        return;
    for (; (item = rex_image_list_item(list, count)) != NULL; count++) {
        FUZZ_CHECK(item->offset <= size && item->stored <= size - item->offset);
        FUZZ_CHECK(item->compressed || item->stored == item->size);
        fuzz_read_string(rex_item_target(item, target));
        if (count < MOST_VIEWED && item->size <= MOST_UNPACKED)
            view_item(list, count);
    }
    FUZZ_CHECK(count > 0 && rex_image_list_view(&(struct rex_image_view *){NULL}, list, count, "bytes") != REX_OK);
    rex_image_list_close(list);
}
