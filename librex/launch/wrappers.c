/*
 * wrappers.c - the safe wrappers for code that includes no header: the host key tells the module.
 *
 * The inline functions of the same names in rex_kmp.h pass their module and do not come here.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "module/modules.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int rex___tgt_target_kernel(int64_t device, int32_t num_teams, int32_t thread_limit,
                                   void *host_key, struct __tgt_kernel_arguments *args);
EXPORT int rex___tgt_target_teams(TARGET_P, GRID_P);
EXPORT int rex___tgt_target(TARGET_P);
EXPORT void rex___tgt_target_data_begin(MAP_P);
EXPORT void rex___tgt_target_data_end(MAP_P);
EXPORT void rex___tgt_target_data_update(MAP_P);

int rex___tgt_target_kernel(int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                            struct __tgt_kernel_arguments *args)
{
    struct rex_module *module = rex_modules_find(host_key);
    if (module == NULL)
        return rex_fail(REX_EKEY,
                        "host key %p is in no module that librex knows: call rex_module_add() or "
                        "rex_module_register()",
                        host_key),
               -1;
    return rex_module_launch(module, device, num_teams, thread_limit, host_key, args);
}

int rex___tgt_target_teams(TARGET_P, GRID_P)
{
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = (uint32_t)count,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .Teams = {teams > 0 ? (uint32_t)teams : 0, 1, 1},
                                            .Threads = {threads > 0 ? (uint32_t)threads : 0, 1, 1}};
    return rex___tgt_target_kernel(device, teams, threads, key, &packet);
}

int rex___tgt_target(TARGET_P)
{
    return rex___tgt_target_teams(TARGET_A, 1, 1);
}

/*
 * A data call names no kernel: mappings belong to the device, not to a module. Every known module
 * that can be is registered; one will do.
 */
static struct rex_module *any_module(void)
{
    struct rex_module *found = NULL;
    if (rex_modules_first() == NULL)
        rex_fail(REX_EKEY, "a data call before any module is known: call rex_module_add() or "
                           "rex_module_register()");
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next)
        if (rex_module_register(module) == REX_OK)
            found = module;
    return found;
}

static int ready(MAP_P)
{
    struct rex_module *module = any_module();
    return module != NULL && rex_module_check_map(module, MAP_A) == REX_OK;
}

void rex___tgt_target_data_begin(MAP_P)
{
    if (ready(MAP_A))
        REX_REAL(target_data_begin)
    (MAP_A);
}

void rex___tgt_target_data_end(MAP_P)
{
    if (ready(MAP_A))
        REX_REAL(target_data_end)
    (MAP_A);
}

void rex___tgt_target_data_update(MAP_P)
{
    if (ready(MAP_A))
        REX_REAL(target_data_update)
    (MAP_A);
}
