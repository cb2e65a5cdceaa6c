/*
 * usedeviceptr.h - puts back the bases of a map that a call has overwritten with device addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_USEDEVICEPTR_H
#define REX_INTERNAL_USEDEVICEPTR_H

#include "rex/map.h"

/* Restore the original bases of MAP, before it is begun or after it is ended. */
void rex_use_device_ptr_put_back(const struct rex_map *map);

/*
 * Before MAP, which has a row with RETURN_PARAM, is begun: remember in *RETURNED the bases that the
 * call will overwrite. Returns 0 or REX_ENOMEM. Call rex_use_device_ptr_add() after the call.
 */
struct rex_use_device_ptr;
int rex_use_device_ptr_prepare(const struct rex_map *map, struct rex_use_device_ptr **returned);
void rex_use_device_ptr_add(struct rex_use_device_ptr *returned);

#endif
