/*
 * resolve.h - which kernel a launch is about.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RESOLVE_H
#define REX_INTERNAL_RESOLVE_H

#include "module/registration.h"

/* The kernel of a launch, and the device that was asked for: -1 or a number. */
struct rex_target {
    struct rex_registration *registration;
    int64_t position; /* of its entry in the table */
    int64_t device;
};

/* Look KEY up in MODULE's table. 0, REX_EINVAL where that is not registered, or REX_EKEY. */
int rex_resolve(const struct rex_module *module, const void *key, int64_t device,
                struct rex_target *target);

static inline const struct __tgt_offload_entry *rex_target_entry(const struct rex_target *target)
{
    return &target->registration->table.entries[target->position];
}

static inline const char *rex_target_name(const struct rex_target *target)
{
    return rex_target_entry(target)->name;
}

static inline struct rex_kernel_rule rex_target_rule(const struct rex_target *target)
{
    return rex_table_rule(&target->registration->table, target->position);
}

#endif
