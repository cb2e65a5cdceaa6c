/*
 * resolve.c - finds the kernel of a launch in the table of its module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/resolve.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/process.h"
#include "module/parts.h"
#include "omp/gate.h"

int rex_resolve(const struct rex_module *module, const void *key, struct rex_target *target)
{
    struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL)
        return rex_fail(REX_EINVAL, "%s%s is not registered: call rex_module_register() first",
                        module->image_name != NULL ? "module " : "the module of the launch",
                        module->image_name != NULL ? module->image_name : "");
    int result = rex_gate_check();
    if (result != REX_OK)
        return result;
    struct rex_kernel *kernel = rex_table_find(&registration->table, key);
    if (kernel == NULL && registration->next_part != NULL)
        kernel = rex_parts_find(&registration, key);
    if (kernel == NULL) {
        Dl_info info;
        if (key == NULL)
            return rex_fail(REX_EKEY, "the host key is NULL: pass REX_KERNEL_ID(NAME)");
        if (dladdr(key, &info) != 0 && info.dli_sname != NULL)
            return rex_fail(
                REX_EKEY,
                "host key %p (%s) is in no offload entry of a registered module: pass "
                "REX_KERNEL_ID(NAME), or register the module, or, with gcc -flto, declare the "
                "module's entries __attribute__((used))",
                key, info.dli_sname);
        return rex_fail(
            REX_EKEY,
            "host key %p is in no offload entry of a registered module: pass REX_KERNEL_ID(NAME), "
            "or register the module, or, with gcc -flto, declare the module's entries "
            "__attribute__((used))",
            key);
    }
    if (kernel->entry->size > 0)
        return rex_fail(REX_EKEY, "host key %p belongs to global \"%s\", not to a kernel", key,
                        kernel->entry->name);
    *target = (struct rex_target){registration, kernel, kernel->entry->name};
    /*
     * With REX_CHECK=off, the kernel is compared with the image only at its first launch. Compare
     * the kernel now, because the caller reads facts of the image, such as the maximum number of
     * threads.
     */
    if (REX_UNLIKELY(!(rex_kernel_flags(kernel) & REX_KERNEL_MATCHED)))
        return rex_registration_match(registration, kernel);
    return REX_OK;
}
