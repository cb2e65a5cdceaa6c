/*
 * memory.h - allocates memory for tools; if there is too little, the tool exits.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stddef.h>

/* Returns an array of COUNT elements of SIZE bytes. All bytes are 0. */
void *tool_alloc(size_t count, size_t size);

/*
 * ARRAY has COUNT elements of SIZE bytes. Makes sure that ARRAY has memory for one more element.
 * Returns the address of ARRAY. The call may change this address. The function does not store the
 * capacity of ARRAY. Instead, the function assumes that the capacity is the smallest power of two
 * that is at least COUNT. So only this function may allocate such an array.
 */
void *tool_grow(void *array, size_t count, size_t size);

/* Returns a string that is formatted as printf() formats. The caller frees the string. */
char *tool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
