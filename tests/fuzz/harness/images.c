/* images.c - everything that can be asked of the view of an image. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "images.h"

#include "image/open.h"

static void ask_of_kernel(const struct rex_image_view *view, const struct rex_image_symbol *kernel)
{
    const struct rex_image_parameter *parameter;
    size_t count = 0, odd = 0, end = 0;
    while ((parameter = rex_image_view_parameter(view, kernel, count)) != NULL) {
        /* PTX may say things that are not understood, a parameter's size among them. */
        FUZZ_CHECK(parameter->size > 0 || view->kind == REX_IMAGE_PTX);
        FUZZ_CHECK(parameter->offset >= end && parameter->width <= parameter->size);
        end = (size_t)parameter->offset + parameter->size;
        odd += parameter->size != 8;
        count++;
    }
    FUZZ_CHECK(kernel->parameters == REX_PARAMETERS_UNKNOWN ? count == 0 : count == kernel->parameters);
    FUZZ_CHECK((odd > 0) == (kernel->odd_size != 0) || view->kind == REX_IMAGE_PTX);
    FUZZ_CHECK(kernel->exec_mode >= -1 && kernel->exec_mode <= UINT8_MAX);
}

static void ask_of_symbol(const struct rex_image_view *view, const struct rex_image_symbol *symbol)
{
    fuzz_read_string(symbol->name);
    const struct rex_image_symbol *found = rex_image_view_find(view, symbol->name);
    FUZZ_CHECK(found != NULL && strcmp(found->name, symbol->name) == 0);
    rex_view_kernel_of(view, symbol->name, REX_EXEC_MODE_SUFFIX);
    if (symbol->kernel)
        ask_of_kernel(view, symbol);
    else
        FUZZ_CHECK(rex_image_view_parameter(view, symbol, 0) == NULL);
}

static void ask(const struct rex_image_view *view)
{
    static const char *const names[] = {"", "plain__kernel_", "bounded_exec_mode", "a_name_that_is_in_no_image"};
    const struct rex_image_symbol *symbol;
    for (size_t i = 0; (symbol = rex_image_view_symbol(view, i)) != NULL; i++)
        ask_of_symbol(view, symbol);
    for (size_t i = 0; i < view->position_count; i++)
        fuzz_read_string(rex_image_view_entry(view, i));
    FUZZ_CHECK(rex_image_view_entry(view, view->position_count) == NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rex_image_view_find(view, names[i]);
        rex_view_kernel_of(view, names[i], REX_EXEC_MODE_SUFFIX);
    }
    rex_image_view_nearest(view, names[1], true);
    rex_image_view_nearest(view, names[2], false);
    FUZZ_CHECK(rex_image_view_kind(view) != REX_IMAGE_HOST || rex_image_view_architecture(view) == 0);
}

void fuzz_view(const uint8_t *bytes, size_t size)
{
    struct rex_image_view view;
    int result = rex_view_open(&view, bytes, size, "bytes");
    FUZZ_CHECK(result == REX_OK || result == REX_EIMAGE || result == REX_ENOMEM);
    if (result != REX_OK)
        return;
    ask(&view);
    rex_view_close(&view);
}
