/*
 * like.h - a launch that is like the one before.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LIKE_H
#define REX_INTERNAL_LIKE_H

#include "memory/rowcheck.h"
#include "module/modules.h"
#include "rex/launch.h"

/* The last launched kernel of those whose keys share KEY's slot; never NULL. */
static inline const struct rex_kernel *rex_last_launch(const struct rex_registration *registration,
                                                       const void *key)
{
    return __atomic_load_n(&registration->recent[rex_recent_slot(key)], __ATOMIC_ACQUIRE);
}

/*
 * False if one of the four is NULL, because the product of their addresses is 0 then. The product
 * of other addresses may be 0, too, if they end in 64 zeros together: such a launch is checked like
 * a new one.
 */
static inline bool rex_are_columns(void *const *base, void *const *begin, const int64_t *sizes,
                                   const int64_t *types)
{
    return (uintptr_t)base * (uintptr_t)begin * (uintptr_t)sizes * (uintptr_t)types != 0;
}

/* Returns libomptarget's result, or REX_NOT_LIKE if the launch has to be checked. */
#define REX_NOT_LIKE 1
int rex_launch_like(const struct rex_module *module, const struct rex_launch_config *launch,
                    const struct rex_map *map, enum rex_purpose purpose);

/* Remember that the rows of MAP were checked. Without memory they are checked again next time. */
void rex_shape_remember(const struct rex_target *target, enum rex_purpose purpose,
                        const struct rex_map *map);

#endif
