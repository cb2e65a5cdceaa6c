/*
 * wrappers.c - exported wrappers of libomptarget's functions, for code that includes no header. The
 * host key of a launch selects the module.
 *
 * The inline wrappers of rex_kmp.h pass their own module, and do not call these functions. That
 * header declares the exported wrappers, but not for librex itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "launch/launch.h"
#include "memory/data.h"
#include "module/registry.h"
#include "omp/gate.h"
#include "omp/grid.h"

/* Weak: a program that links librex.a may define some of these functions itself. */
#define EXPORT __attribute__((weak, visibility("default")))

EXPORT int rex___tgt_target_kernel(int64_t device, int32_t num_teams, int32_t thread_limit,
                                   void *host_key, struct __tgt_kernel_arguments *args);
EXPORT int rex___tgt_target_teams(TARGET_P, GRID_P);
EXPORT int rex___tgt_target(TARGET_P);
EXPORT void rex___tgt_target_data_begin(MAP_P);
EXPORT void rex___tgt_target_data_end(MAP_P);
EXPORT void rex___tgt_target_data_update(MAP_P);

void *rex_literal_error(const void *src, size_t size)
{
    if (src == NULL)
        rex_fail(REX_EINVAL, "rex_pack_literal_arg_bytes: the source is NULL (bytes: %zu)", size);
    else
        rex_fail(REX_EINVAL,
                 "rex_pack_literal_arg_bytes: a literal of %zu bytes; at most 8 can be passed by "
                 "value: map the literal",
                 size);
    return NULL;
}

/*
 * Returns the module with the host key KEY. Returns NULL, with an error set, if there is no such
 * module.
 */
static struct rex_module *module_of_key(const void *key)
{
    struct rex_module *module = rex_modules_find(key);
    if (module == NULL)
        rex_fail(REX_EKEY,
                 "host key %p is in no module that librex knows: call rex_module_add() or "
                 "rex_module_register()",
                 key);
    return module;
}

int rex___tgt_target_kernel(int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                            struct __tgt_kernel_arguments *args)
{
    struct rex_module *module = module_of_key(host_key);
    if (module == NULL)
        return REX_EKEY;
    return rex_launch_arguments(module, REX_NEED_MODULE_OR_HOST, "rex___tgt_target_kernel", device,
                                num_teams, thread_limit, host_key, args);
}

int rex___tgt_target_teams(TARGET_P, GRID_P)
{
    const struct rex_map map = {
        .count = count, .base = base, .begin = begin, .sizes = sizes, .types = types};
    struct rex_request request = {.device = device,
                                  .grid = rex_grid_of_call(teams, threads),
                                  .map = &map,
                                  .is_packet = true,
                                  .purpose = REX_FOR_LAUNCH};
    struct rex_module *module = module_of_key(key);
    if (module == NULL)
        return REX_EKEY;
    int result = rex_module_enter(module, REX_NEED_MODULE_OR_HOST, "rex___tgt_target_teams");
    if (result != REX_OK)
        return result;
    result = rex_launch_packet(module, key, &request);
    rex_gate_leave();
    return result;
}

int rex___tgt_target(TARGET_P)
{
    return rex___tgt_target_teams(TARGET_A, 1, 1);
}

/*
 * Registers every known module that can be registered, because a data call has no host key that
 * selects a module. Errors of single modules are ignored if at least one module is registered.
 * Returns false, with an error set, if the data call cannot be made.
 */
static bool register_all(const char *what)
{
    struct rex_kept_error last;
    struct rex_module *module = rex_modules_first();
    while (module != NULL && (rex_registration_of(module) != NULL || !rex_table_is_own(module)))
        module = module->next;
    if (module == NULL && rex_devices_are_there())
        return true;
    rex_error_keep(&last);
    if (rex_modules_first() == NULL)
        rex_modules_look_around();
    if (rex_modules_first() == NULL) {
        rex_fail(
            REX_EKEY,
            "%s: librex knows no module yet: call rex_module_add() or rex_module_register() first",
            what);
        return false;
    }
    for (module = rex_modules_first(); module != NULL; module = module->next)
        if (rex_table_is_own(module))
            rex_module_register(module, NULL);
    if (!rex_devices_are_there() && rex_modules_ready(what) != REX_OK)
        return false;
    rex_error_restore(&last);
    return true;
}

void rex___tgt_target_data_begin(MAP_P)
{
    if (register_all("data begin"))
        rex_pass_data_call(REX_DATA_BEGIN, MAP_A);
}

void rex___tgt_target_data_end(MAP_P)
{
    if (register_all("data end"))
        rex_pass_data_call(REX_DATA_END, MAP_A);
}

void rex___tgt_target_data_update(MAP_P)
{
    if (register_all("data update"))
        rex_pass_data_call(REX_DATA_UPDATE, MAP_A);
}
