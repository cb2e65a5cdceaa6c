/*
 * kernelname.c - a kernel by its host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "kernelname.h"

#include "adopt.h"
#include "registration.h"

const char *rex_kernel_name(const void *key)
{
    const struct rex_module *module = rex_modules_find(key);
    const struct rex_registration *registration = module != NULL ? rex_registration_of(module) : NULL;
    int64_t position = registration != NULL ? rex_table_find(&registration->table, key) : -1;
    return position >= 0 ? registration->table.entries[position].name : rex_adopted_name(key);
}
