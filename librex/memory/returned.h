/*
 * returned.h - puts back the bases of a map that a call has overwritten with device addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RETURNED_H
#define REX_INTERNAL_RETURNED_H

#include "rex/map.h"

/* Restore the original bases of MAP, before it is begun or after it is ended. */
void rex_returned_put_back(const struct rex_map *map);

/*
 * Before MAP, which has a row with RETURN_PARAM, is begun: remember in *RETURNED the bases that the
 * call will overwrite. Returns 0 or REX_ENOMEM. Call rex_returned_add() after the call.
 */
struct rex_returned;
int rex_returned_prepare(const struct rex_map *map, struct rex_returned **returned);
void rex_returned_add(struct rex_returned *returned);

#endif
