/*
 * listapi.c - the public face of list.c (rex/image.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "error.h"
#include "list.h"
#include "view.h"

int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size, const char *name)
{
    if (list == NULL || bytes == NULL || name == NULL)
        return rex_fail(REX_EINVAL, "rex_image_list_open: %s is NULL", list == NULL ? "list" : bytes == NULL ? "bytes" : "name");
    struct rex_image_list *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the images of a file");
    int result = rex_list_open(opened, bytes, size, name);
    if (result == REX_OK)
        *list = opened;
    else
        free(opened);
    return result;
}

void rex_image_list_close(struct rex_image_list *list)
{
    if (list == NULL)
        return;
    rex_list_close(list);
    free(list);
}

const struct rex_image_item *rex_image_list_item(const struct rex_image_list *list, size_t index)
{
    return index < list->count ? &list->entries[index].item : NULL;
}

int rex_image_list_view(const struct rex_image_list *list, size_t index, const char *name, struct rex_image_view **view)
{
    unsigned char *unpacked = NULL;
    size_t size;
    if (list == NULL || name == NULL || view == NULL || index >= list->count)
        return rex_fail(REX_EINVAL, "rex_image_list_view: %s",
                        list == NULL || name == NULL || view == NULL ? "an argument is NULL" : "there is no such image");
    const struct rex_image_item *item = &list->entries[index].item;
    if (!item->compressed)
        return rex_image_view_open(view, list->bytes + item->offset, item->size, name);
    int result = rex_list_bytes(list, index, name, &unpacked, &size);
    if (result == REX_OK && (result = rex_image_view_open(view, unpacked, size, name)) == REX_OK)
        (*view)->own = unpacked;
    else
        free(unpacked);
    return result;
}
