/* cursor.h - a map while it is built. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_CURSOR_H
#define REX_INTERNAL_CURSOR_H

#include <stdbool.h>

#include "rex/map.h"

struct rex_cursor {
    struct rex_map map; /* the columns, NULL in the pass that counts */
    int64_t capacity;   /* rows there is room for; rows are only counted up to it */
    int64_t row;        /* number of the next row */
    int depth;          /* mappers inside mappers */
    bool filling;
    int64_t section;    /* type of the sections around, which says what of an element is copied; valid if depth > 0 */
    int64_t parent;     /* row of the section around, of which an element's rows are members; valid if depth > 0 */
    void *handle;       /* of a mapper function that the runtime called: rows go there, at once */
};

/* ROW as the sections around it let it be. */
struct rex_row rex_row_inside(const struct rex_cursor *cursor, struct rex_row row);

/* Hand ROW to the runtime. */
void rex_push_to_runtime(const struct rex_cursor *cursor, const struct rex_row *row);

#endif
