/*
 * viewapi.c - the public face of view.c (rex/image.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "error.h"
#include "view.h"

int rex_image_view_open(struct rex_image_view **view, const void *bytes, size_t size, const char *name)
{
    if (view == NULL || bytes == NULL || name == NULL)
        return rex_fail(REX_EINVAL, "rex_image_view_open: %s is NULL", view == NULL ? "view" : bytes == NULL ? "bytes" : "name");
    struct rex_image_view *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the view of an image");
    int result = rex_view_open(opened, bytes, size, name);
    if (result == REX_OK)
        *view = opened;
    else
        free(opened);
    return result;
}

void rex_image_view_close(struct rex_image_view *view)
{
    if (view == NULL)
        return;
    rex_view_close(view);
    free(view);
}

enum rex_image_kind rex_image_view_kind(const struct rex_image_view *view)
{
    return view->kind;
}

unsigned rex_image_view_architecture(const struct rex_image_view *view)
{
    return view->architecture;
}

const struct rex_image_symbol *rex_image_view_symbol(const struct rex_image_view *view, size_t index)
{
    return index < view->count ? &view->symbols[index] : NULL;
}

const struct rex_image_symbol *rex_image_view_find(const struct rex_image_view *view, const char *name)
{
    return rex_view_find(view, name);
}

const char *rex_image_view_nearest(const struct rex_image_view *view, const char *name, bool kernel)
{
    return rex_view_nearest(view, name, kernel);
}

const struct rex_image_parameter *rex_image_view_parameter(const struct rex_image_view *view,
                                                           const struct rex_image_symbol *kernel, size_t index)
{
    bool known = kernel->kernel && kernel->parameters != REX_PARAMETERS_UNKNOWN && index < kernel->parameters;
    return known ? &view->parameters[kernel->first + index] : NULL;
}

const char *rex_image_view_entry(const struct rex_image_view *view, size_t index)
{
    return index < view->position_count ? view->positions[index] : NULL;
}
