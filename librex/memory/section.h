/*
 * section.h - rows on their way into a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SECTION_H
#define REX_INTERNAL_SECTION_H

#include "rex/map.h"

/* Where rows go while a map is built. */
struct rex_map_builder {
    int64_t row;      /* number of the next row */
    void **columns;   /* base, begin, sizes, types; NULL in the pass that counts */
    int64_t capacity; /* rows of a column */
    int64_t section;  /* type of the section around; valid if depth > 0 */
    int64_t parent;   /* row of the section around; valid if depth > 0 */
    void *handle;     /* of a mapper function that the runtime called: rows go there, at once */
    int depth;        /* mappers inside mappers */
};

/* ROW as the sections around it let it be. */
struct rex_row rex_row_inside(const struct rex_map_builder *builder, struct rex_row row);

/* Hand ROW to the runtime. */
void rex_add_to_runtime(const struct rex_map_builder *builder, const struct rex_row *row);

#endif
