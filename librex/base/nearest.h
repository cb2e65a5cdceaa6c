/*
 * nearest.h - which of some names was probably meant.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_NEAREST_H
#define REX_INTERNAL_NEAREST_H

#include <stddef.h>

/* A search. All but the name that is wanted is zero at first. */
struct rex_nearest {
    const char *wanted;
    const char *name; /* the nearest so far; NULL: none was near */
    size_t edits;     /* how many letters have to change to make it of the wanted one */
    size_t steps;     /* taken so far: letters looked at */
};

/* Have NAME, which stays, compared. */
void rex_nearest_try(struct rex_nearest *nearest, const char *name);

#endif
