/*
 * wrappers.c - the wrappers for code that includes no header: the host key tells the module.
 *
 * The wrappers of rex_kmp.h are inline, pass their module and do not come here.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "launch/launch.h"
#include "memory/data.h"
#include "module/modules.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/columns.h"
#include "omp/grid.h"
#include "omp/presentcalls.h"
#include "omp/unfinished.h"

#define EXPORT __attribute__((visibility("default")))

/* The map of the parameters MAP_P. */
#define MAP_OF_COLUMNS \
    ((struct rex_map){.count = count, .base = base, .begin = begin, .sizes = sizes, .types = types})

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
        rex_fail(REX_EINVAL, "rex_pack_literal_arg_bytes: source is NULL for %zu bytes", size);
    else
        rex_fail(REX_EINVAL,
                 "rex_pack_literal_arg_bytes: a literal of %zu bytes; at most 8 can be passed by "
                 "value: map it",
                 size);
    return NULL;
}

/* The module with the key KEY; NULL with an error. */
static struct rex_module *find_module(const void *key)
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
    struct rex_module *module = find_module(host_key);
    return module != NULL
               ? rex_module_launch(module, device, num_teams, thread_limit, host_key, args)
               : REX_EKEY;
}

int rex___tgt_target_teams(TARGET_P, GRID_P)
{
    struct rex_module *module = find_module(key);
    struct rex_request request = {.device = device,
                                  .grid = rex_grid_of_call(teams, threads),
                                  .map = &MAP_OF_COLUMNS,
                                  .is_packet = true,
                                  .purpose = REX_FOR_LAUNCH};
    return module != NULL ? rex_launch_packet(module, key, &request) : REX_EKEY;
}

int rex___tgt_target(TARGET_P)
{
    return rex___tgt_target_teams(TARGET_A, 1, 1);
}

/* Whether there is a device, and every known module that can be registered is. */
static bool are_registered(void)
{
    for (const struct rex_module *module = rex_modules_first(); module != NULL;
         module = module->next)
        if (rex_registration_of(module) == NULL && rex_table_is_own(module))
            return false;
    return rex_devices_are_there();
}

static bool register_all(const char *what)
{
    if (rex_modules_first() == NULL)
        rex_modules_look_around();
    if (rex_modules_first() == NULL)
        return rex_fail(REX_EKEY, "a data call before any module is known: call rex_module_add() "
                                  "or rex_module_register()"),
               false;
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next)
        if (rex_table_is_own(module))
            rex_module_register(module, NULL);
    return rex_devices_are_there() || rex_modules_ready(what) == REX_OK;
}

/*
 * A data call names no kernel, because mappings belong to the device, not to a module. So every
 * known module that can be registered is. One success is enough: then the others' errors are
 * dropped.
 */
static bool any_module(const char *what)
{
    if (are_registered())
        return true;
    struct rex_kept_error last;
    rex_error_keep(&last);
    bool ready = register_all(what);
    if (ready)
        rex_error_restore(&last);
    return ready;
}

/* Checks the call and logs it as WHAT. */
static bool ready(const char *what, MAP_P)
{
    if (!any_module(what) || rex_check_data_call(MAP_A) != REX_OK)
        return false;
    if (count > 0)
        rex_map_log(what, device, &MAP_OF_COLUMNS);
    return true;
}

static void pass_on(enum rex_data_call data, enum rex_present_call call, const char *name,
                    int64_t device, const struct rex_map *map)
{
    int number = rex_openmp_number(device);
    rex_present_enter(call, map, number);
    rex_call_data(data, name, device, map);
    rex_present_leave(call, map, number, REX_CALL_DONE);
}

void rex___tgt_target_data_begin(MAP_P)
{
    if (ready("data begin", MAP_A))
        pass_on(REX_DATA_BEGIN, REX_CALL_BEGINS, "data begin", device, &MAP_OF_COLUMNS);
}

void rex___tgt_target_data_end(MAP_P)
{
    if (!ready("data end", MAP_A))
        return;
    rex_unfinished_wait(&MAP_OF_COLUMNS, device, "rex___tgt_target_data_end");
    pass_on(REX_DATA_END, REX_CALL_ENDS, "data end", device, &MAP_OF_COLUMNS);
}

void rex___tgt_target_data_update(MAP_P)
{
    if (ready("data update", MAP_A))
        pass_on(REX_DATA_UPDATE, REX_CALL_UPDATES, "data update", device, &MAP_OF_COLUMNS);
}
