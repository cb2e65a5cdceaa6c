/*
 * launch.c - the functions that launch: with a packet and a host key, or with a description and a
 * map (rex/module.h, rex/launch.h). Also rex_module_init() of rex/module.h.
 *
 * Each launch fills one struct rex_request. If there are no fallback reasons, the driver launches.
 * Otherwise libomptarget launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/calls.h"
#include "cuda/launchcontext.h"
#include "cuda/lost.h"
#include "launch/attributes.h"
#include "launch/bydriver.h"
#include "launch/byruntime.h"
#include "launch/check.h"
#include "launch/defer.h"
#include "memory/rowlookup.h"
#include "memory/unite.h"
#include "module/loadedimage.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "trace/trace.h"

/* ---- every launch ---------------------------------------------------------------------------- */

/*
 * REQUEST is a launch that libomptarget makes. Checks the rows, but does not compare them with the
 * mappings. Returns 0 or an error.
 */
static int check_map_of_request(const struct rex_request *request)
{
    const struct rex_map *map = request->map;
    char text[REX_ROW_TEXT];
    int result = rex_check_rows(map, request->purpose, request->target.name);
    if (result != REX_OK || request->purpose != REX_FOR_QUEUE)
        return result;
    /*
     * The host device passes each argument in 8 bytes. rex_check_rows() refuses a larger value only
     * for REX_FOR_LAUNCH, so refuse it here for a queue.
     */
    for (int32_t i = 0; i < map->count; i++)
        if (map->sizes[i] > 8 && (map->types[i] & REX_MAP_LITERAL) &&
            (map->types[i] & REX_MAP_TARGET_PARAM))
            return rex_fail(REX_EUNSUPPORTED,
                            "kernel \"%.*s\": map row %d is a value of %lld bytes, and device %d "
                            "takes at most 8: let the kernel take a pointer, and map the value%s",
                            REX_KERNEL_NAME(request->target.name), i, (long long)map->sizes[i],
                            request->number, rex_row_text(map, i, text));
    return REX_OK;
}

/*
 * If there are no fallback reasons, the driver launches. Otherwise libomptarget launches, or maps
 * the rows for a launch by the driver (rex_launch_with_mapping()). With REX_FOR_QUEUE only
 * libomptarget launches. Returns 0 or an error. If libomptarget refused the launch, returns
 * REX_EHOST without a message, or the error of rex_device_offload().
 */
static int launch_somewhere(struct rex_request *request)
{
    const struct rex_map *given = request->map;
    int64_t *types = NULL;
    int result = REX_OK, returned = 0;
    request->reasons = REX_REASON_DEVICE;
    if (request->purpose == REX_FOR_LAUNCH) {
        result = rex_launch_by_driver(request);
        if (request->reasons == 0)
            return result;
        if (!rex_launches_block())
            rex_log_not_deferred(request);
    }
    struct rex_map rows = *given;
    if (request->purpose == REX_FOR_LAUNCH) { /* a launch in a queue maps nothing */
        result = rex_rows_unite(&rows, request->is_packet, REX_FOR_LAUNCH, request->device,
                                request->target.name, &types);
        if (result != REX_OK)
            goto done;
    }
    request->map = &rows;
    /* If the program passed a packet, rex_launch_by_runtime() checks its rows. */
    if (!request->is_packet) {
        result = check_map_of_request(request);
        if (result != REX_OK)
            goto done;
    }
    result = rex_launch_with_mapping(request);
    if (result == REX_OK && request->reasons != 0)
        result = rex_launch_by_runtime(request, &returned);
    if (result == REX_OK && returned != 0) {
        /* If the device is the host, the result depends on REX_REQUIRE_GPU. */
        result = rex_device_offload(request->device, &request->number);
        if (result == REX_OK)
            result = REX_EHOST;
    }
done:
    request->map = given;
    free(types);
    return result;
}

/* ---- a packet -------------------------------------------------------------------------------- */

int rex_launch_packet(struct rex_module *module, const void *key, struct rex_request *request)
{
    int result = rex_resolve(module, key, &request->target);
    if (result != REX_OK)
        return result;
    if (request->map == NULL)
        return rex_fail(REX_EINVAL, "kernel \"%.*s\": the packet is NULL",
                        REX_KERNEL_NAME(request->target.name));
    result = rex_grid_complete(&request->grid, request->trip_count, request->target.name);
    if (result != REX_OK)
        return result;
    return launch_somewhere(request);
}

int rex_launch_arguments(struct rex_module *module, enum rex_need need, const char *what,
                         int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                         struct __tgt_kernel_arguments *args)
{
    struct rex_request request = {.device = device, .is_packet = true, .purpose = REX_FOR_LAUNCH};
    struct rex_map map;
    int result = rex_module_enter(module, need, what);
    if (result != REX_OK)
        return result;
    if (args == NULL)
        goto launch;
    map = (struct rex_map){args->NumArgs,  args->ArgsBase,   args->Args, args->ArgSizes,
                           args->ArgTypes, args->ArgMappers, NULL};
    request.map = &map;
    request.names = args->ArgNames;
    request.trip_count = (uint64_t)args->Tripcount;
    request.flags = (uint64_t)args->Flags;
    memcpy(request.grid.teams, args->Teams, sizeof request.grid.teams);
    memcpy(request.grid.threads, args->Threads, sizeof request.grid.threads);
    request.grid.dynamic_memory = (uint32_t)args->DynCGroupMem;
    if (request.grid.teams[0] == 0 && num_teams > 0)
        request.grid.teams[0] = (uint32_t)num_teams;
    if (request.grid.threads[0] == 0 && thread_limit > 0)
        request.grid.threads[0] = (uint32_t)thread_limit;
launch:
    result = rex_launch_packet(module, host_key, &request);
    rex_gate_leave();
    return result;
}

int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                      int32_t thread_limit, void *host_key, struct __tgt_kernel_arguments *args)
{
    return rex_launch_arguments(module, REX_NEED_MODULE, "rex_module_launch", device, num_teams,
                                thread_limit, host_key, args);
}

int rex_module_target_kernel(struct rex_module *module, int64_t device, int32_t num_teams,
                             int32_t thread_limit, void *host_key,
                             struct __tgt_kernel_arguments *args)
{
    const struct rex_registration *registration = NULL;
    if (module != NULL)
        registration = rex_registration_of(module);
    /*
     * The wrappers of rex_kmp.h pass the module of the file that includes rex_kmp.h. Another file
     * of the binary, with kernels in another module, may call these wrappers, too. So find the
     * module that has the key.
     */
    if (module != NULL &&
        (registration == NULL || rex_table_find(&registration->table, host_key) == NULL)) {
        struct rex_module *other = rex_modules_find(host_key);
        if (other != NULL)
            module = other;
    }
    return rex_launch_arguments(module, REX_NEED_MODULE_OR_HOST, "rex_module_target_kernel", device,
                                num_teams, thread_limit, host_key, args);
}

/* ---- a description and a map ----------------------------------------------------------------- */

/*
 * Fills REQUEST from CONFIG, and finds the kernel and the device. Returns 0 or an error. Returns
 * REX_EHOST, without a message, if the device is the host.
 */
static int resolve_description(struct rex_module *module, const struct rex_launch_config *config,
                               struct rex_request *request)
{
    request->grid = rex_grid_of_launch(config);
    request->trip_count = config->trip_count;
    request->flags = (config->flags & REX_LAUNCH_NOWAIT ? REX_FLAG_NOWAIT : 0) |
                     (config->flags & REX_LAUNCH_STRICT ? REX_FLAGS_STRICT : 0);
    int result = rex_device_offload(config->device, &request->number);
    if (result != REX_OK)
        return result;
    request->device = request->number; /* ask libomp only once for the default device */
    result = rex_resolve(module, config->key, &request->target);
    if (result != REX_OK)
        return result;
    result = rex_device_lost(request->number, request->target.name);
    if (result != REX_OK)
        return result;
    if (config->flags & REX_LAUNCH_STRICT) {
        result = rex_check_strict(config, request->target.name);
        if (result != REX_OK)
            return result;
    }
    return rex_grid_complete(&request->grid, request->trip_count, request->target.name);
}

int rex_launch_check(struct rex_module *module, const struct rex_launch_config *launch,
                     const struct rex_map *map, enum rex_purpose purpose)
{
    struct rex_request request = {.map = map, .purpose = purpose, .reasons = REX_REASON_DEVICE};
    enum rex_kernel_form form;
    int result = rex_module_enter(module, REX_NEED_MODULE, "rex_launch");
    if (result != REX_OK)
        return result;
    result = resolve_description(module, launch, &request);
    if (result != REX_OK)
        goto leave;
    result = check_map_of_request(&request);
    if (result != REX_OK)
        goto leave;
    result = rex_check_presence(map, purpose, request.number, request.target.name, NULL);
    if (result == REX_OK)
        result = rex_check_parameters(&request, &form);
    if (result == REX_OK && request.grid.attributes != 0)
        result = rex_attributes_refuse(&request);
leave:
    rex_gate_leave();
    /*
     * With REX_EHOST nothing is launched, but the caller may keep the rows in a graph. So check
     * only the rows.
     */
    if (result == REX_EHOST)
        return rex_check_rows(map, purpose, "a launch");
    return result;
}

int rex_launch_map(struct rex_module *module, const struct rex_launch_config *config,
                   const struct rex_map *map, enum rex_purpose purpose)
{
    static const struct rex_map no_rows;
    struct rex_request request = {.map = map != NULL ? map : &no_rows, .purpose = purpose};
    int result = rex_module_enter(module, REX_NEED_MODULE, "rex_launch");
    if (result != REX_OK)
        return result;
    result = resolve_description(module, config, &request);
    if (result == REX_EHOST) {
        rex_gate_leave();
        return rex_fail_host("rex_launch: nothing was launched", request.number);
    }
    if (result == REX_OK)
        result = launch_somewhere(&request);
    if (result == REX_EHOST)
        rex_fail_quietly(REX_EHOST,
                         "kernel \"%.*s\" was not launched: libomptarget refused the launch, "
                         "perhaps because libomptarget was called before the image was registered: "
                         "call rex_offload_init() before any other call of libomptarget",
                         REX_KERNEL_NAME(request.target.name));
    rex_gate_leave();
    return result;
}

/* ---- rex_launch() ---------------------------------------------------------------------------- */

int (*rex_launch_in_queue)(struct rex_module *module, const struct rex_launch_config *launch,
                           const struct rex_map *map);

__attribute__((noinline)) int rex_launch_grid_stride(struct rex_module *module,
                                                     const struct rex_launch_config *launch,
                                                     const struct rex_map *map)
{
    uint64_t most = 0;
    if ((launch->flags & REX_LAUNCH_COOPERATIVE) && launch->teams[0] == 0) {
        int64_t resident = rex_module_resident_blocks(module, launch);
        /* If the device is not a GPU, rex_module_launch_map() reports the error. */
        if (resident < 0 && resident != REX_ENODEVICE && resident != REX_EHOST)
            return (int)resident;
        most = resident > 0 ? (uint64_t)resident : 1;
    }
    struct rex_launch_config whole = rex_grid_stride(launch, most);
    return rex_module_launch_map(module, &whole, map);
}

static __attribute__((noinline)) int refuse_unknown(const struct rex_launch_config *launch)
{
    uint32_t unknown = launch->flags & ~REX_LAUNCH_FLAGS;
    if (unknown != 0)
        return rex_fail(REX_EINVAL, "rex_launch: unknown flags 0x%x", unknown);
    return rex_fail(REX_EINVAL, "rex_launch: a reserved field of the launch is not 0");
}

REX_NO_STACK_GUARD
int rex_module_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                          const struct rex_map *map)
{
    if (REX_UNLIKELY(launch == NULL))
        return rex_fail_null("rex_launch", "launch");
    if (REX_UNLIKELY(((launch->flags & ~REX_LAUNCH_FLAGS) | launch->reserved[0] |
                      launch->reserved[1] | launch->reserved[2]) != 0))
        return refuse_unknown(launch);
    if (launch->queue != NULL)
        return rex_launch_in_queue(module, launch, map);
    if (rex_launch_strides(launch))
        return rex_launch_grid_stride(module, launch, map);
    if (REX_UNLIKELY(module == NULL))
        return rex_fail_null("rex_launch", "module");
    return rex_launch_map(module, launch, map, REX_FOR_LAUNCH);
}

/* ---- resident blocks ------------------------------------------------------------------------- */

int64_t rex_module_resident_blocks(struct rex_module *module,
                                   const struct rex_launch_config *launch)
{
    static const char call[] = "rex_resident_blocks";
    struct rex_request request = {.purpose = REX_FOR_LAUNCH};
    struct rex_launch_context *context = NULL;
    struct rex_loaded_kernel *kernel;
    uint64_t blocks = 0;
    int ordinal = -1, entered = -1;
    if (launch == NULL)
        return rex_fail_null(call, "launch");
    if (module == NULL)
        return rex_fail_null(call, "module");
    /*
     * The kernel may be in the module of a library, and not in MODULE. So find the module that has
     * the key.
     */
    struct rex_module *owner = rex_modules_find(launch->key);
    int result = rex_module_enter(owner != NULL ? owner : module, REX_NEED_MODULE, call);
    if (result != REX_OK)
        return result;
    struct rex_launch_config block = *launch;
    block.flags &= ~REX_LAUNCH_STRICT;
    block.teams[0] = block.teams[1] = block.teams[2] = 1;
    result = resolve_description(owner != NULL ? owner : module, &block, &request);
    if (result == REX_EHOST)
        result = rex_fail_host("rex_resident_blocks", request.number);
    if (result == REX_OK)
        result = rex_device_known_ordinal(request.number, &ordinal);
    if (result == REX_OK && ordinal < 0)
        result = rex_fail_no_gpu("rex_resident_blocks", request.number);
    if (result == REX_OK)
        result = rex_check_limits(&request.target, &request.grid);
    if (result == REX_OK)
        result = rex_launch_context_take(ordinal, request.target.name, &context, &entered);
    if (result != REX_OK)
        goto leave;
    kernel =
        rex_loaded_kernel(&request.target, ordinal, context->cuda, request.grid.dynamic_memory);
    result =
        kernel != NULL ? rex_resident_count(kernel, &request.grid, &blocks) : rex_last_error_code();
    rex_launch_context_give(context, entered);
leave:
    rex_gate_leave();
    if (result != REX_OK)
        return result;
    return (int64_t)blocks;
}

/* ---- preparation before the first launch ----------------------------------------------------- */

enum { IMAGE_TEXT = 448 };

/* Writes the name of MODULE's image for a message, and then AFTER, to TEXT. */
static void name_image(const struct rex_module *module, const char *after, char text[IMAGE_TEXT])
{
    snprintf(text, IMAGE_TEXT, "device image %.400s%s", rex_module_image_path(module), after);
}

/*
 * Prepares the first launch: the driver loads the image, and a launch context gets memory. Ignores
 * errors, because the first launch reports them.
 */
static void prepare_first_launch(struct rex_registration *registration)
{
    int number, ordinal, entered;
    char image[IMAGE_TEXT];
    struct rex_launch_context *context = NULL;
    if ((rex_process_reasons() | registration->reasons) != 0 ||
        rex_device_offload(-1, &number) != REX_OK || rex_gate_enter() != REX_OK)
        return;
    if (rex_registration_of(registration->module) == NULL ||
        rex_device_known_ordinal(number, &ordinal) != REX_OK || ordinal < 0)
        goto leave;
    name_image(registration->module, "", image);
    if (rex_launch_context_take(ordinal, image, &context, &entered) != REX_OK)
        goto leave;
    if (rex_loaded_image_prepare(registration, context->ordinal, context->cuda) == REX_OK)
        rex_launch_context_make_room(context, 1, image);
    rex_launch_context_give(context, entered);
leave:
    rex_gate_leave();
}

int rex_module_init(struct rex_module *module)
{
    char image[IMAGE_TEXT];
    int result = rex_module_ready(module, REX_NEED_MODULE, "rex_module_init");
    if (result != REX_OK || rex_runtime_disabled())
        return result;
    result = rex_device_check(-1);
    if (result != REX_OK)
        return result;
    name_image(module, " cannot be loaded", image);
    result = rex_device_lost(rex_openmp_default_device(), image);
    if (result != REX_OK)
        return result;
    uint64_t begin = rex_phase_begin();
    rex_device_used();
    rex_shelter_begin();
    /* In every LLVM release, libomptarget loads the image when an empty data region begins. */
    result = rex_call_data(REX_DATA_BEGIN, NULL, -1, &(struct rex_map){0});
    if (result == REX_OK) {
        struct rex_kept_error last;
        rex_error_keep(&last);
        prepare_first_launch(module->registration);
        rex_error_restore(&last); /* the first launch reports the error again */
    }
    rex_shelter_end();
    rex_phase_end(begin, "load image", rex_module_image_path(module));
    return result;
}
