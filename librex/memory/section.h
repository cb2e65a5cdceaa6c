/*
 * section.h - sections that add more than one row to a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SECTION_H
#define REX_INTERNAL_SECTION_H

#include <stdbool.h>

#include "rex/launch.h"

/*
 * The state of a map that is being built. rex_map_build() makes two passes: the first only counts
 * the rows, and the second writes them. While a mapper runs, `depth` is above 0. Example: for the
 * section list[0:10], the mapper runs 10 times. It adds the rows of list[0], then of list[1], and
 * so on.
 */
struct rex_map_builder {
    int64_t row;      /* number of the next row */
    void **columns;   /* base, begin, sizes, types; NULL in the first pass and with `handle` */
    int64_t capacity; /* elements of a column; INT32_MAX in the first pass, 0 with `handle` */
    int64_t section;  /* if `depth` > 0: type of the section */
    /* if `depth` > 0: the section; `base` is the address of the current element */
    struct rex_row part;
    int64_t element_size; /* if `depth` > 0: size of an element in bytes */
    /* if `depth` > 0: number of the row that is the parent of the elements' rows */
    int64_t parent;
    /*
     * handle of libomptarget, which receives each row as soon as the row is built; NULL if the
     * program builds the map
     */
    void *handle;
    int depth; /* number of mapper calls in progress, one inside the other */
};

/*
 * If a mapper adds a row with TYPE, returns the type that the row gets in the map. Removes the copy
 * directions that the section lacks. Example: in a section of type REX_MAP_TO, a row of type
 * REX_MAP_TOFROM becomes REX_MAP_TO. Adds bits of the section, such as REX_MAP_ALWAYS. A row
 * without a parent becomes a member of the section's row. If no mapper is running, returns TYPE.
 */
int64_t rex_type_inside(const struct rex_map_builder *builder, int64_t type);

#define REX_MOST_DIMENSIONS 8

/*
 * Checks a rectangular part of an array for the public function CALLER. PITCH[d] becomes the
 * distance in bytes between neighbouring elements of dimension d. Returns 0 or REX_EINVAL.
 */
int rex_part_check(const char *caller, int64_t element_size, const struct rex_dimension *dimensions,
                   int count, int64_t pitch[REX_MOST_DIMENSIONS]);

/* Returns true if the part has all elements of the array in dimension ONE. */
static inline bool rex_dimension_is_whole(const struct rex_dimension *one)
{
    return one->stride == 1 && one->lower == 0 && one->length == one->extent;
}

#endif
