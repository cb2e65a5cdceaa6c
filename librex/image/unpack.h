/*
 * unpack.h - compressed members of fatbins.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNPACK_H
#define REX_INTERNAL_UNPACK_H

#include <stddef.h>

enum rex_packing { REX_UNPACKED, REX_PACKED_ZSTD, REX_PACKED_LZ4 };

/*
 * STORED bytes at FROM into SIZE new ones, of malloc(), with a NUL behind them. 0, or an error that
 * calls the image NAME: REX_EUNSUPPORTED where the library is missing, REX_EIMAGE where the bytes
 * are wrong or unpack to another number, REX_ENOMEM.
 */
int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name);

#endif
