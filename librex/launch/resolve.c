/*
 * resolve.c - which kernel a launch is about.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/resolve.h"

#include <dlfcn.h>

#include "base/error.h"

static int unknown_key(const void *key)
{
    Dl_info info;
    if (dladdr(key, &info) != 0 && info.dli_sname != NULL)
        return rex_fail(REX_EKEY, "host key %p (%s) is in no registered table of offload entries",
                        key, info.dli_sname);
    return rex_fail(REX_EKEY, "host key %p is in no registered table of offload entries", key);
}

int rex_resolve(const struct rex_module *module, const void *key, int64_t device,
                struct rex_target *target)
{
    struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL)
        return rex_fail(REX_EINVAL, "a launch for a module that is not registered");
    int64_t position = rex_table_find(&registration->table, key);
    if (position < 0)
        return unknown_key(key);
    *target = (struct rex_target){registration, position, device};
    if (rex_target_entry(target)->size > 0)
        return rex_fail(REX_EKEY, "host key %p is that of global \"%s\", not of a kernel", key,
                        rex_target_name(target));
    return REX_OK;
}
