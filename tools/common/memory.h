/*
 * memory.h - allocates memory for tools; if there is too little, the tool exits.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stddef.h>

/* Returns COUNT elements of SIZE bytes, zeroed. */
void *tool_alloc(size_t count, size_t size);

/*
 * Returns ARRAY, which may have moved, with memory for at least one more element after its COUNT
 * elements of SIZE bytes. The function does not store the size of the array: it assumes memory for
 * the smallest power of two of elements, at least COUNT. So only this function may allocate such an
 * array.
 */
void *tool_grow(void *array, size_t count, size_t size);

/* Returns a string formatted as by printf(), which the caller frees. */
char *tool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
