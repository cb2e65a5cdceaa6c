/*
 * list.h - the images inside a file.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LIST_H
#define REX_INTERNAL_LIST_H

#include "image/unpack.h"
#include "rex/image.h"

struct rex_image_entry {
    struct rex_image_item item;
    enum rex_packing packing;
};

struct rex_image_list {
    const unsigned char *bytes;
    size_t size;
    struct rex_image_entry *entries;
    size_t count, room;
    bool plain; /* the one image is the file itself */
};

/*
 * List what is in the SIZE bytes, which must outlive the list. 0, or an error with its message
 * recorded; NAME is what messages call the file.
 */
int rex_list_open(struct rex_image_list *list, const void *bytes, size_t size, const char *name);
void rex_list_close(struct rex_image_list *list);

/*
 * Bytes of image INDEX, unpacked, of malloc(), with a NUL behind them; *SIZE how many. Errors as
 * those of rex_unpack().
 */
int rex_list_bytes(const struct rex_image_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size);

/* "sm_90", "compute_90a (PTX)", "the CPU": what ITEM is for, in BUFFER, which is returned. */
#define REX_TARGET_MAX 40
const char *rex_item_target(const struct rex_image_item *item, char buffer[REX_TARGET_MAX]);

#endif
