/*
 * resolve.h - finds the kernel of a launch by its host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RESOLVE_H
#define REX_INTERNAL_RESOLVE_H

#include "module/registration.h"

struct rex_target {
    struct rex_registration *registration;
    struct rex_kernel *kernel;
    const char *name;
};

/*
 * Looks up KEY in MODULE's table, and fills TARGET. If REX_CHECK is off, the registration has not
 * compared the kernel with the image, so the first call for the kernel compares it. After each call
 * that returns 0, TARGET's kernel has REX_KERNEL_MATCHED. Returns 0 or an error:
 * - REX_EINVAL: MODULE is not registered
 * - REX_EKEY: no kernel of MODULE has KEY
 * - an error of rex_gate_check() or rex_registration_match()
 */
int rex_resolve(const struct rex_module *module, const void *key, struct rex_target *target);

#endif
