/*
 * fuzz.h - what the fuzz targets share.
 *
 * A target is one file with fuzz_bytes(): everything that one reader does, over bytes that may be anything. It is linked twice: with
 * libFuzzer (make fuzz), which looks for bytes that break it, and with replay.c (make check), which goes through those that are kept.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_FUZZ_H
#define REX_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target. BYTES end where readable memory ends. */
void fuzz_bytes(const uint8_t *bytes, size_t size);

/* A path that leads to a file with BYTES, until the next call with the same SLOT, 0 or 1. */
const char *fuzz_file(int slot, const void *bytes, size_t size);

/* Read STRING to its end. */
void fuzz_read_string(const char *string);

/* A copy that ends where its memory does, to be freed. */
uint8_t *fuzz_copy(const void *bytes, size_t size);

/* A promise of a reader that does not hold is a finding, as a bad read is. */
#define FUZZ_CHECK(condition)                                                        \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
            abort();                                                                 \
        }                                                                            \
    } while (0)

#endif
