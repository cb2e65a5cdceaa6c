/*
 * list.h - the images inside a file, a look into each, and LLVM's OffloadBinary, in which clang
 * wraps some.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LIST_H
#define REX_INTERNAL_LIST_H

#include "image/view.h"

enum rex_packing { REX_UNPACKED, REX_PACKED_ZSTD, REX_PACKED_LZ4 };

struct rex_image_entry {
    struct rex_image_item item;
    enum rex_packing packing;
    uint64_t packed_before; /* what the compressed images of the list before it would take, */
    uint64_t packed;        /* and what it takes itself; 0 where it is not compressed */
};

struct rex_list {
    struct rex_image_list shown; /* of a list that a user has: its images */
    const unsigned char *bytes;
    size_t size;
    struct rex_image_entry *entries;
    size_t count, room;
    bool plain;      /* the one image is the file itself */
    uint64_t packed; /* what its compressed images would take, unpacked */
    /* How many bytes the compressed images may unpack to, one by one or all together. */
    uint64_t unpack_most;
};

/*
 * List the images in the SIZE bytes, which must outlive the list. 0, or an error with its message,
 * which calls the file NAME.
 */
int rex_list_open(struct rex_list *list, const void *bytes, size_t size, const char *name);
void rex_list_close(struct rex_list *list);

/* Add ITEM of the file, for the reader of a fatbin. 0 or REX_ENOMEM. */
int rex_list_add(struct rex_list *list, const struct rex_image_item *item,
                 enum rex_packing packing);

/* The device that ITEM is for, in BUFFER, which is returned: "sm_90", "compute_90a (PTX)". */
#define REX_TARGET_MAX 40
const char *rex_item_target(const struct rex_image_item *item, char buffer[REX_TARGET_MAX]);

/* ---- what is in an image --------------------------------------------------------------------- */

/*
 * View an image with the reader of its kind. The view may take MOST bytes of memory; SIZE_MAX: any
 * number. 0, or an error with its message, which calls the image NAME. BYTES must outlive the view,
 * which rex_view_close() closes.
 */
int rex_view_open_within(struct rex_view *view, const void *bytes, size_t size, size_t most,
                         const char *name);

/*
 * Bytes of image INDEX, unpacked, of malloc(), with a NUL behind them; *SIZE how many. Errors as
 * those of rex_unpack(), and REX_EIMAGE where it would unpack to more than a file of this size may.
 */
int rex_list_bytes(const struct rex_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size);

/* Bytes that a view of image INDEX may take, for rex_view_open_within(). */
size_t rex_list_view_most(const struct rex_list *list, size_t index);

/* ---- LLVM's OffloadBinary ------------------------------------------------------------------- */

/* Bytes of an image inside a container. */
struct rex_span {
    size_t offset, size;
};

/*
 * Number of images in the container at BYTES; 0 if it is none, of an unknown version, or cut off.
 */
size_t rex_container_images(const unsigned char *bytes, size_t size);

/* Where the image INDEX lies. 0, or -1: there is none, or not all of it. */
int rex_container_image(const unsigned char *bytes, size_t size, size_t index,
                        struct rex_span *span);

/* The version of the format; 0 if it is no container. LLVM 15 to 20 know version 1. */
uint32_t rex_container_version(const unsigned char *bytes, size_t size);

#endif
