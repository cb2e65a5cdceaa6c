/*
 * fatbin.h - nvcc's fatbin: images for several GPUs in one file.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FATBIN_H
#define REX_INTERNAL_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/unpack.h"

/* there are others */
enum rex_fatbin_kind { REX_FATBIN_PTX = 1, REX_FATBIN_CUBIN = 2, REX_FATBIN_LTO = 8 };

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
 * Bytes of a fatbin of which BYTES are the beginning, and a few behind it, where there may be
 * another one; 0 if it is none of a form that is known.
 */
uint64_t rex_fatbin_extent(const void *bytes, size_t size);

/*
 * The next member: 1, 0 after the last, or -1 with ->why. Nothing outside the bytes is read, and
 * each member lies inside them.
 */
int rex_fatbin_next(struct rex_fatbin *fatbin, struct rex_fatbin_member *member);

#endif
