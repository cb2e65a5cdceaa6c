/*
 * returned.h - device addresses that a call has written into a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RETURNED_H
#define REX_INTERNAL_RETURNED_H

#include "rex/map.h"

/*
 * Before MAP is begun or after it is ended: its bases as they were before addresses were written
 * over them.
 */
void rex_returned_put_back(const struct rex_map *map);

/*
 * Before MAP is begun: remember the bases that the call will write over, in *RETURNED; NULL where
 * it writes over none. 0 or REX_ENOMEM. After the call: rex_returned_add().
 */
struct rex_returned;
int rex_returned_prepare(const struct rex_map *map, struct rex_returned **returned);
void rex_returned_add(struct rex_returned *returned);

#endif
