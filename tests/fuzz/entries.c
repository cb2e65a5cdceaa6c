/*
 * entries.c - tables of offload entries of either form, as an adopted descriptor delimits them. Their pointers are never followed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/registry.h"

#include "fuzz.h"

static void copy_and_ask(struct rex_entries table, bool old)
{
    struct rex_entries copy;
    FUZZ_CHECK(rex_entries_copy(table, old, &copy) == 0);
    FUZZ_CHECK(copy.size <= table.size || table.size == 0);
    rex_entries_name(copy, NULL);
    free((void *)(uintptr_t)copy.begin);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_entries table = {bytes, size};
    for (size_t at = 0; at < 512 && at + sizeof(void *) <= size; at += sizeof(void *)) {
        const void *key;
        memcpy(&key, bytes + at, sizeof key);
        rex_entries_name(table, key);
    }
    copy_and_ask(table, false);
    copy_and_ask(table, true);
}
