/*
 * stem.h - what the names of a kernel's host key, entry and symbol have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_STEM_H
#define CHECK_STEM_H

#include <stdbool.h>
#include <stddef.h>

/* Suffixes of the names of one kernel, behind its stem. */
#define KEY_SUFFIX "id__"
#define ENTRY_SUFFIX "omp_offload_entry__"
#define NAME_SUFFIX "kernel__"

/*
 * Whether NAME ends with SUFFIX, once what a compiler has appended (`.lto_priv.0`) or put in front
 * (`_ZL12`) is taken away; *STEM is what comes before SUFFIX then, LENGTH bytes.
 */
bool name_stem(const char *name, const char *suffix, const char **stem, size_t *length);

#endif
