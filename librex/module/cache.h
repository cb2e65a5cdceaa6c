/*
 * cache.h - what the CUDA driver made of PTX, kept in the user's cache folder.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CACHE_H
#define REX_INTERNAL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define REX_CACHE_MAKER_MAX 128

/* All that the result depends on. */
struct rex_cache_key {
    const unsigned char *source;
    size_t source_size;
    char maker[REX_CACHE_MAKER_MAX]; /* the driver */
    uint32_t architecture;
};

/* What is kept for KEY: 0, with bytes of malloc(), or -1. NAME is what the log calls the source. */
int rex_cache_load(const struct rex_cache_key *key, const char *name, unsigned char **bytes,
                   size_t *size);

/* Keep BYTES for KEY. Where that fails the log says why, and nothing else happens. */
void rex_cache_store(const struct rex_cache_key *key, const unsigned char *bytes, size_t size);

#endif
