/*
 * fatbin.h - reads nvcc's fatbin: images for several GPUs in one file, compressed or not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FATBIN_H
#define REX_INTERNAL_FATBIN_H

#include "image/list.h"

/* Returns true if the SIZE bytes begin with a fatbin's magic number. */
bool rex_fatbin_is(const void *bytes, size_t size);

/*
 * Adds the members of the fatbin to LIST. The fatbin is SIZE bytes at OFFSET of the file of LIST.
 * Messages call the file NAME. Every member that is added lies inside the fatbin. A member that is
 * neither PTX nor a CUBIN, such as the intermediate code of -dlto, is listed as REX_IMAGE_OTHER.
 * Returns 0 or an error.
 */
int rex_fatbin_list(struct rex_list *list, size_t offset, size_t size, const char *name);

/*
 * Decompresses STORED bytes at FROM into a malloc()ed buffer of SIZE bytes plus a NUL. Copies the
 * bytes if they are not compressed. *BYTES becomes the buffer. Returns 0 or one of these errors,
 * with a message that calls the image NAME:
 * - REX_EUNSUPPORTED if libzstd or liblz4 is needed and cannot be used
 * - REX_EIMAGE if the bytes are damaged or do not unpack to SIZE bytes
 * - REX_ENOMEM
 */
int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name);

#endif
