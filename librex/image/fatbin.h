/*
 * fatbin.h - nvcc's fatbin: images for several GPUs in one file, compressed or not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FATBIN_H
#define REX_INTERNAL_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* there are others */
enum rex_fatbin_kind { REX_FATBIN_PTX = 1, REX_FATBIN_CUBIN = 2, REX_FATBIN_LTO = 8 };

enum rex_packing { REX_UNPACKED, REX_PACKED_ZSTD, REX_PACKED_LZ4 };

struct rex_fatbin_member {
    unsigned kind;         /* enum rex_fatbin_kind, or another number */
    unsigned architecture; /* 90, of sm_90 or compute_90 */
    char suffix;           /* 'a' of sm_90a, 'f' of sm_100f, or 0 */
    enum rex_packing packing;
    const unsigned char *payload; /* as it lies there, */
    size_t stored, size;          /* and how many bytes; how many it unpacks to */
};

/* A walk through a fatbin; begin with zeroes and the bytes. */
struct rex_fatbin {
    const unsigned char *bytes;
    size_t size;
    size_t at, end; /* the next member, and where the last one ends */
    char why[160];  /* why rex_fatbin_next() returned -1 */
};

/* Whether the SIZE bytes begin as a fatbin does. */
bool rex_fatbin_is(const void *bytes, size_t size);

/*
 * The next member: 1, 0 after the last, or -1 with ->why. Nothing outside the bytes is read, and
 * each member lies inside them.
 */
int rex_fatbin_next(struct rex_fatbin *fatbin, struct rex_fatbin_member *member);

/* ---- compressed members ---------------------------------------------------------------------- */

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
