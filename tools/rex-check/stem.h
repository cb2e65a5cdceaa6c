/*
 * stem.h - the stem: the common part of the names of a kernel's host key, entry and symbol.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_STEM_H
#define CHECK_STEM_H

#include <stdbool.h>
#include <stddef.h>

/* A kernel's host key, entry and symbol are named by the stem and one of these suffixes. */
#define KEY_SUFFIX "id__"
#define ENTRY_SUFFIX "omp_offload_entry__"
#define NAME_SUFFIX "kernel__"

/*
 * Returns true if NAME ends with SUFFIX. Ignores characters that the compiler has added:
 * `.lto_priv.0` after SUFFIX, or `_ZL12` before the stem. If the result is true, *STEM points to
 * the *LENGTH bytes before SUFFIX.
 */
bool name_stem(const char *name, const char *suffix, const char **stem, size_t *length);

#endif
