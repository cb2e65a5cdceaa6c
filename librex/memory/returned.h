/*
 * returned.h - device addresses that a call has written into a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RETURNED_H
#define REX_INTERNAL_RETURNED_H

#include "rex/map.h"

/*
 * Before MAP is begun or after it is ended: column 1 as it was before addresses were written there.
 */
void rex_given_take_back(const struct rex_map *map);

/*
 * What column 1 holds before MAP is begun, NULL if the call writes nothing there; for
 * rex_given_note() after the call. 0 or REX_ENOMEM.
 */
struct rex_given;
int rex_given_keep(const struct rex_map *map, struct rex_given **given);
void rex_given_note(struct rex_given *given);

#endif
