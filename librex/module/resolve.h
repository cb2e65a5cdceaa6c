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
 * compared the kernel with the image. So the first call for the kernel compares them: the kernel of
 * each target has REX_KERNEL_MATCHED. Returns 0, REX_EINVAL if MODULE is not registered, REX_EKEY,
 * or an error of rex_registration_match().
 */
int rex_resolve(const struct rex_module *module, const void *key, struct rex_target *target);

#endif
