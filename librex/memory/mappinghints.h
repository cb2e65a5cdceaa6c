/*
 * mappinghints.h - rows that data calls have mapped, as far as librex remembers them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGHINTS_H
#define REX_INTERNAL_MAPPINGHINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/map.h"

/*
 * The rows that data calls have mapped, as far as librex remembers them: where to look when a part
 * of one is asked for. Hints, no more: what they say is verified. rex_mapping_forget() is for after
 * the end of rows. rex_mapping_hint() gives the row that contains SIZE bytes at BEGIN, or false.
 */
void rex_mapping_remember(const struct rex_map *map, int number);
void rex_mapping_forget(const struct rex_map *map, int number);
bool rex_mapping_hint(const void *begin, size_t size, int number, const void **row,
                      size_t *row_size);

/*
 * A remembered row that begins in SIZE bytes at BEGIN, behind the first of them: where to look
 * whether something is mapped there.
 */
bool rex_mapping_within(const void *begin, size_t size, int number, const void **row);

/*
 * A mapping is made of these bytes, no more and no less. rex_mapping_divides(): such a mapping ends
 * or begins in SIZE bytes at BEGIN, which are more than one mapping then, whatever it looks like.
 * Good until a mapping ends elsewhere.
 */
void rex_mapping_remember_whole(uintptr_t begin, size_t size, int number);
bool rex_mapping_divides(const void *begin, size_t size, int number);

#endif
