/*
 * section.h - rows that are added to a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SECTION_H
#define REX_INTERNAL_SECTION_H

#include <stdbool.h>

#include "rex/launch.h"

/* The state of a map that is being built. */
struct rex_map_builder {
    int64_t row;          /* number of the next row */
    void **columns;       /* base, begin, sizes, types; NULL in the pass that counts */
    int64_t capacity;     /* rows of a column; INT32_MAX in the pass that counts, 0 with `handle` */
    int64_t section;      /* type of the surrounding section; valid if depth > 0 */
    struct rex_row part;  /* elements of the section; its base is the element that is mapped */
    int64_t element_size; /* bytes of an element */
    int64_t parent;       /* row of the surrounding section; valid if depth > 0 */
    void *handle; /* libomptarget's, if it called the mapper: rows are pushed there at once */
    int depth;    /* nesting of mappers */
};

/*
 * Returns TYPE of a row with the bits that the surrounding section passes on, and without the
 * copies that the section does not make.
 */
int64_t rex_type_inside(const struct rex_map_builder *builder, int64_t type);

#define REX_MOST_DIMENSIONS 8

/*
 * Check a rectangular part of an array, and store in PITCH the bytes from one element of each
 * dimension to the next. Returns 0 or REX_EINVAL, for the public function CALLER.
 */
int rex_part_check(const char *caller, int64_t element_size, const struct rex_dimension *dimensions,
                   int count, int64_t pitch[REX_MOST_DIMENSIONS]);

/* Returns true if a part has all elements of ONE dimension, in their order. */
static inline bool rex_dimension_is_whole(const struct rex_dimension *one)
{
    return one->stride == 1 && one->lower == 0 && one->length == one->extent;
}

#endif
