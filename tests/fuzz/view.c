/* view.c - the public view of an image (rex/inspect.h), as a tool uses it. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fuzz.h"
#include "rex/inspect.h"

static void ask(const struct rex_image_view *view)
{
    const struct rex_image_symbol *symbol;
    const char *name;
    for (size_t i = 0; (symbol = rex_image_view_symbol(view, i)) != NULL; i++) {
        fuzz_read_string(symbol->name);
        FUZZ_CHECK(rex_image_view_find(view, symbol->name) != NULL);
        for (size_t k = 0; rex_image_view_parameter(view, symbol, k) != NULL; k++)
            FUZZ_CHECK(symbol->kernel && k < symbol->parameters);
    }
    for (size_t i = 0; (name = rex_image_view_entry(view, i)) != NULL; i++) {
        const char *nearest = i < 4 ? rex_image_view_nearest(view, name, true) : NULL;
        if (nearest != NULL)
            FUZZ_CHECK(rex_image_view_find(view, nearest)->kernel || rex_image_view_kind(view) == REX_IMAGE_HOST);
    }
    FUZZ_CHECK(rex_image_view_find(view, "") == NULL);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_image_view *view = NULL;
    int result = rex_image_view_open(&view, bytes, size, "bytes");
    FUZZ_CHECK((result == REX_OK) == (view != NULL));
    FUZZ_CHECK(result == REX_OK || *rex_last_error() != '\0');
    if (result != REX_OK)
        return;
    ask(view);
    rex_image_view_close(view);
}
