/*
 * fatbin.h - nvcc's fatbin: images for several GPUs in one file, compressed or not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FATBIN_H
#define REX_INTERNAL_FATBIN_H

#include "image/list.h"

/* Whether the SIZE bytes begin as a fatbin does. */
bool rex_fatbin_is(const void *bytes, size_t size);

/*
 * Add to LIST the members of such a fatbin, of SIZE bytes at OFFSET of the file that messages call
 * NAME. 0 or an error. Each member lies inside the fatbin. One that is neither PTX nor a CUBIN,
 * like the intermediate code of -dlto, is REX_IMAGE_OTHER.
 */
int rex_fatbin_list(struct rex_list *list, size_t offset, size_t size, const char *name);

/*
 * STORED bytes at FROM into SIZE new ones, of malloc(), with a NUL behind them. 0, or an error that
 * calls the image NAME: REX_EUNSUPPORTED where the library is missing, REX_EIMAGE where the bytes
 * are wrong or unpack to another number, REX_ENOMEM.
 */
int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name);

#endif
