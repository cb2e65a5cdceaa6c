/*
 * nearest.h - which of some names was probably meant.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_NEAREST_H
#define REX_INTERNAL_NEAREST_H

#include <stddef.h>

/*
 * Begin with the name that was looked for, and zeroes; the nearest is in ->name then, NULL where
 * none is near.
 */
struct rex_nearest {
    const char *wanted;
    const char *name;
    size_t edits; /* that make it of the wanted one */
    size_t steps; /* taken so far: letters looked at */
};

void rex_nearest_try(struct rex_nearest *nearest, const char *name);

#endif
