/*
 * list.h - lists the images in a file, and opens a view of each image. Also reads LLVM's
 * OffloadBinary, a container in which clang wraps some images.
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
    uint64_t packed_before; /* sum of `packed` of all images before this image */
    /*
     * Number of bytes that is compared with `unpack_most` of struct rex_list: the size after
     * unpacking, plus UNPACK_EACH (list.c). 0 if the image is not compressed.
     */
    uint64_t packed;
};

struct rex_list {
    struct rex_image_list shown; /* the list that a program sees; set by rex_image_list_open() */
    const unsigned char *bytes;
    size_t size;
    struct rex_image_entry *entries;
    size_t count, room;
    bool plain;      /* the file is one image, not a container of images */
    uint64_t packed; /* sum of `packed` of all images */
    /*
     * Maximum of `packed` of one image. But rex_image_view_open() compares this maximum with the
     * sum `packed_before` + `packed`, because a program may have views of all images open.
     */
    uint64_t unpack_most;
};

/*
 * Lists the images in the SIZE bytes, which must outlive the list. Returns 0, or an error whose
 * message calls the file NAME.
 */
int rex_list_open(struct rex_list *list, const void *bytes, size_t size, const char *name);
void rex_list_close(struct rex_list *list);

/* For the reader of a fatbin: adds ITEM to LIST. Returns 0 or REX_ENOMEM. */
int rex_list_add(struct rex_list *list, const struct rex_image_item *item,
                 enum rex_packing packing);

/* Writes the name of ITEM's target to BUFFER: "sm_90", "compute_90a (PTX)". Returns BUFFER. */
#define REX_TARGET_MAX 40
const char *rex_item_target(const struct rex_image_item *item, char buffer[REX_TARGET_MAX]);

/* ---- one image ------------------------------------------------------------------------------- */

/*
 * Opens a view of an image, which may be a CUBIN, PTX or a host image. rex_view_close() closes the
 * view. The view takes at most MOST bytes of memory; SIZE_MAX means no limit. BYTES must outlive
 * the view. Returns 0, or an error whose message calls the image NAME.
 */
int rex_view_open_within(struct rex_view *view, const void *bytes, size_t size, size_t most,
                         const char *name);

/*
 * Unpacks image INDEX into a malloc()ed buffer of *SIZE bytes plus a NUL. Returns 0 or an error of
 * rex_unpack(). Returns REX_EIMAGE if `packed` of the image is above LIST->unpack_most.
 */
int rex_list_bytes(const struct rex_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size);

/*
 * Returns the maximum number of bytes for a view of image INDEX (MOST of rex_view_open_within()).
 */
size_t rex_list_view_most(const struct rex_list *list, size_t index);

/* ---- LLVM's OffloadBinary -------------------------------------------------------------------- */

/* Byte range of an image inside a container. */
struct rex_span {
    size_t offset, size;
};

/*
 * Returns the number of images in the container at BYTES. Returns 0 if there is no container at
 * BYTES, or if the container is truncated or of an unknown version.
 */
size_t rex_container_images(const unsigned char *bytes, size_t size);

/*
 * Sets *SPAN to the byte range of image INDEX. Returns 0, or -1 if there is no such image or the
 * image is truncated.
 */
int rex_container_image(const unsigned char *bytes, size_t size, size_t index,
                        struct rex_span *span);

/*
 * Returns the version of the container's format, or 0 if the bytes are not a container.
 * omp/release.c has the newest version that each LLVM release reads.
 */
uint32_t rex_container_version(const unsigned char *bytes, size_t size);

#endif
