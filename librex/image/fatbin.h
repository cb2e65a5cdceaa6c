/*
 * fatbin.h - nvcc's fatbin: images for several GPUs in one file, compressed or not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FATBIN_H
#define REX_INTERNAL_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "rex/inspect.h"

enum rex_packing { REX_UNPACKED, REX_PACKED_ZSTD, REX_PACKED_LZ4 };

/* A walk through a fatbin; begin with zeroes, the bytes, and what messages call the file. */
struct rex_fatbin {
    const unsigned char *bytes;
    size_t size;
    const char *name;
    size_t at, end; /* the next member, and where the last one ends */
};

/* Whether the SIZE bytes begin as a fatbin does. */
bool rex_fatbin_is(const void *bytes, size_t size);

/*
 * The next member: 1, 0 after the last, or an error. Nothing outside the bytes is read, and each
 * member lies inside them. A member that is neither PTX nor a CUBIN, like the intermediate code of
 * -dlto, is REX_IMAGE_OTHER.
 */
int rex_fatbin_next(struct rex_fatbin *fatbin, struct rex_image_item *member,
                    enum rex_packing *packing);

/*
 * STORED bytes at FROM into SIZE new ones, of malloc(), with a NUL behind them. 0, or an error that
 * calls the image NAME: REX_EUNSUPPORTED where the library is missing, REX_EIMAGE where the bytes
 * are wrong or unpack to another number, REX_ENOMEM.
 */
int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name);

#endif
