/*
 * memory.h - memory for tools, which end where there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stddef.h>

/* COUNT elements of SIZE bytes, zeroed. */
void *tool_alloc(size_t count, size_t size);

/*
 * ARRAY with room for one more element beside its COUNT ones of SIZE bytes. Room doubles, so that
 * COUNT alone tells how much there is: for arrays that grow by this function alone.
 */
void *tool_grow(void *array, size_t count, size_t size);

/* A string made by printf's rules, which the caller frees. */
char *tool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
