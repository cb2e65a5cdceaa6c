/* nearest.h - which of some names was probably meant. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

/* The best name so far; begin with {WANTED}. ->name is NULL while none is near. */
struct nearest {
    const char *wanted;
    const char *name;
    size_t edits;
};

/* NAME may be nearer than what was seen before. */
void nearest_try(struct nearest *nearest, const char *name);

#endif
