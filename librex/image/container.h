/*
 * container.h - LLVM's OffloadBinary, in which clang wraps device images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CONTAINER_H
#define REX_INTERNAL_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

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

/* Bytes of the header, which is all that the next two look at. */
#define REX_CONTAINER_HEADER 32

/* The version of the format; 0 if it is no container. LLVM 15 to 20 know version 1. */
uint32_t rex_container_version(const unsigned char *bytes, size_t size);

/* Bytes of the whole container, as its header says; 0 if it is none, or ends before that. */
size_t rex_container_size(const unsigned char *bytes, size_t size);

#endif
