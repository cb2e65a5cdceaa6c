/* images.c - everything that can be asked of the images in a file, by the public list and views.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "images.h"

#define MOST_UNPACKED ((size_t)1 << 16) /* more is slow, and the library's that unpacks it */
#define MOST_VIEWED 8

static void ask_of_kernel(const struct rex_image_view *view, const struct rex_image_symbol *kernel)
{
    size_t odd = 0, end = 0;
    FUZZ_CHECK((kernel->parameter == NULL) ==
               (kernel->parameters == 0 || kernel->parameters == REX_PARAMETERS_UNKNOWN));
    for (size_t i = 0; kernel->parameter != NULL && i < kernel->parameters; i++) {
        const struct rex_image_parameter *parameter = &kernel->parameter[i];
        /* PTX may say things that are not understood, a parameter's size among them. */
        FUZZ_CHECK(parameter->size > 0 || view->kind == REX_IMAGE_PTX);
        FUZZ_CHECK(parameter->offset >= end && parameter->width <= parameter->size);
        end = (size_t)parameter->offset + parameter->size;
        odd += parameter->size != 8;
    }
    FUZZ_CHECK((odd > 0) == (kernel->odd_size != 0) || view->kind == REX_IMAGE_PTX);
    FUZZ_CHECK(kernel->exec_mode >= -1 && kernel->exec_mode <= UINT8_MAX);
}

static void ask_of_symbol(const struct rex_image_view *view, const struct rex_image_symbol *symbol)
{
    fuzz_read_string(symbol->name);
    const struct rex_image_symbol *found = rex_image_view_find(view, symbol->name);
    FUZZ_CHECK(found != NULL && strcmp(found->name, symbol->name) == 0);
    if (symbol->kernel)
        ask_of_kernel(view, symbol);
    else
        FUZZ_CHECK(symbol->parameter == NULL);
}

static void ask_of_view(const struct rex_image_view *view)
{
    for (size_t i = 0; i < view->symbol_count; i++)
        ask_of_symbol(view, &view->symbols[i]);
    for (size_t i = 0; i < view->entry_count; i++) {
        fuzz_read_string(view->entries[i]);
        if (i < 4)
            rex_nearest_name(view->entries[i], view->entries, view->entry_count);
    }
    FUZZ_CHECK(rex_image_view_find(view, "") == NULL);
    FUZZ_CHECK(rex_image_view_find(view, "a_name_that_is_in_no_image") == NULL);
    FUZZ_CHECK(view->kind != REX_IMAGE_HOST || view->architecture == 0);
}

static void ask_of_item(const struct rex_image_list *list, size_t index, size_t size)
{
    const struct rex_image_item *item = &list->items[index];
    struct rex_image_view *view = NULL;
    FUZZ_CHECK(item->offset <= size && item->stored <= size - item->offset);
    FUZZ_CHECK(item->compressed || item->stored == item->size);
    if (index >= MOST_VIEWED || (item->compressed && item->size > MOST_UNPACKED))
        return;
    int result = rex_image_view_open(&view, list, index, "bytes");
    FUZZ_CHECK((result == REX_OK) == (view != NULL));
    FUZZ_CHECK(result == REX_OK || *rex_last_error() != '\0');
    if (result == REX_OK)
        ask_of_view(view);
    rex_image_view_close(view);
}

void fuzz_images(const uint8_t *bytes, size_t size)
{
    struct rex_image_list *list = NULL;
    int result = rex_image_list_open(&list, bytes, size, "bytes");
    FUZZ_CHECK((result == REX_OK) == (list != NULL));
    FUZZ_CHECK(result == REX_OK || result == REX_EIMAGE || result == REX_ENOMEM);
    if (result != REX_OK)
        return;
    for (size_t i = 0; i < list->count; i++)
        ask_of_item(list, i, size);
    FUZZ_CHECK(list->count > 0);
    FUZZ_CHECK(rex_image_view_open(&(struct rex_image_view *){NULL}, list, list->count, "bytes") !=
               REX_OK);
    rex_image_list_close(list);
}
