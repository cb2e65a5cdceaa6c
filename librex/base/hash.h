/*
 * hash.h - one hash for bytes, names and addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HASH_H
#define REX_INTERNAL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a. */
static inline uint64_t rex_hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static inline uint64_t rex_hash_string(const char *string)
{
    return rex_hash_bytes(string, strlen(string));
}

/* Fibonacci hashing: the top bits differ for addresses that lie side by side, as host keys do. */
static inline uint32_t rex_hash_address(const void *address)
{
    return (uint32_t)(((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u) >> 32);
}

#endif
