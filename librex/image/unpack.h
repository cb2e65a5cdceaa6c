/*
 * unpack.h - compressed members of fatbins.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNPACK_H
#define REX_INTERNAL_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum rex_packing { REX_UNPACKED, REX_PACKED_ZSTD, REX_PACKED_LZ4 };

/*
 * How many bytes the compressed images of a file of SIZE bytes may unpack to, one by one or all
 * together, if each counts for REX_UNPACK_EACH bytes besides its own.
 *
 * A few bytes can say that they unpack to a gigabyte, any number of times. nvcc's images unpack to
 * three to eight times as many bytes, and in a small one there may be a large table of zeroes. With
 * the views of all, which may take twice that, a file takes less than 64 MiB and 32 times its size.
 */
static inline uint64_t rex_unpack_most(size_t size)
{
    return ((uint64_t)16 << 20) + (uint64_t)size * 10;
}
#define REX_UNPACK_EACH 512

/*
 * STORED bytes at FROM into SIZE new ones, of malloc(), with a NUL behind them. 0, or an error that
 * calls the image NAME: REX_EUNSUPPORTED where the library is missing, REX_EIMAGE where the bytes
 * are wrong or unpack to another number, REX_ENOMEM.
 */
int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name);

#endif
