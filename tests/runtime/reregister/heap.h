/* heap.h - what librex keeps on the heap. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

/* Begins to count, the first time; 0 where that cannot be done. */
int heap_is_counted(void);

/* Bytes that librex has asked for and not freed. */
size_t heap_of_librex(void);

#endif
