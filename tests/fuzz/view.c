/* view.c - the public view of an image (rex/inspect.h), as a tool uses it. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fuzz.h"
#include "rex/inspect.h"

static void ask(const struct rex_image_view *view)
{
    for (size_t i = 0; i < view->symbol_count; i++) {
        const struct rex_image_symbol *symbol = &view->symbols[i];
        fuzz_read_string(symbol->name);
        FUZZ_CHECK(rex_image_view_find(view, symbol->name) != NULL);
        FUZZ_CHECK(symbol->kernel || symbol->parameter == NULL);
    }
    for (size_t i = 0; i < view->entry_count; i++) {
        fuzz_read_string(view->entries[i]);
        if (i < 4)
            rex_nearest_name(view->entries[i], view->entries, view->entry_count);
    }
    FUZZ_CHECK(rex_image_view_find(view, "") == NULL);
}

/* A file that is an image by itself: the views of others are list.c's. */
static bool is_alone(const struct rex_image_list *list, size_t size)
{
    return list->count == 1 && list->items[0].stored == size;
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_image_list *list = NULL;
    struct rex_image_view *view = NULL;
    int result = rex_image_list_open(&list, bytes, size, "bytes");
    FUZZ_CHECK((result == REX_OK) == (list != NULL));
    if (result == REX_OK && is_alone(list, size)) {
        result = rex_image_view_open(&view, list, 0, "bytes");
        FUZZ_CHECK((result == REX_OK) == (view != NULL));
        if (result == REX_OK)
            ask(view);
    }
    FUZZ_CHECK(result == REX_OK || *rex_last_error() != '\0');
    rex_image_view_close(view);
    rex_image_list_close(list);
}
