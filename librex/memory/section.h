/*
 * section.h - rows on their way into a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SECTION_H
#define REX_INTERNAL_SECTION_H

#include "rex/map.h"

/* ROW as the sections around it let it be. */
struct rex_row rex_row_inside(const struct rex_cursor *cursor, struct rex_row row);

/* Hand ROW to the runtime. */
void rex_push_to_runtime(const struct rex_cursor *cursor, const struct rex_row *row);

#endif
