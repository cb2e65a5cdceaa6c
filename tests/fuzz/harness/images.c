/* images.c - everything that can be asked of the view of an image. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "images.h"

#include "image/open.h"

static void ask_of_kernel(const struct rex_view *view, const struct rex_image_symbol *kernel)
{
    size_t odd = 0, end = 0;
    FUZZ_CHECK((kernel->parameter == NULL) == (kernel->parameters == 0 || kernel->parameters == REX_PARAMETERS_UNKNOWN));
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

static void ask_of_symbol(const struct rex_view *view, const struct rex_image_symbol *symbol)
{
    fuzz_read_string(symbol->name);
    const struct rex_image_symbol *found = rex_view_find(view, symbol->name);
    FUZZ_CHECK(found != NULL && strcmp(found->name, symbol->name) == 0);
    rex_view_kernel_of(view, symbol->name, REX_EXEC_MODE_SUFFIX);
    if (symbol->kernel)
        ask_of_kernel(view, symbol);
    else
        FUZZ_CHECK(symbol->parameter == NULL);
}

static void ask(const struct rex_view *view)
{
    static const char *const names[] = {"", "plain__kernel_", "bounded_exec_mode", "a_name_that_is_in_no_image"};
    for (size_t i = 0; i < view->count; i++)
        ask_of_symbol(view, &view->symbols[i]);
    for (size_t i = 0; i < view->position_count; i++)
        fuzz_read_string(view->positions[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rex_view_find(view, names[i]);
        rex_view_kernel_of(view, names[i], REX_EXEC_MODE_SUFFIX);
    }
    rex_view_nearest(view, names[1], true);
    rex_view_nearest(view, names[2], false);
    FUZZ_CHECK(view->kind != REX_IMAGE_HOST || view->architecture == 0);
}

void fuzz_view(const uint8_t *bytes, size_t size)
{
    struct rex_view view;
    int result = rex_view_open(&view, bytes, size, "bytes");
    FUZZ_CHECK(result == REX_OK || result == REX_EIMAGE || result == REX_ENOMEM);
    if (result != REX_OK)
        return;
    ask(&view);
    rex_view_close(&view);
}
