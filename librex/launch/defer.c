/*
 * defer.c - a deferred launch: the call returns before the kernel is done (REX_LAUNCH_BLOCKING=0).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/defer.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "cuda/deferred.h"
#include "cuda/lost.h"
#include "cuda/pinned.h"
#include "memory/devicememory.h"

/*
 * Returns true if a word of the value in ROW is an address in pinned memory. A kernel can write to
 * pinned memory, and the host can read that memory.
 */
static bool has_pinned_address(const struct rex_map *map, int32_t row)
{
    uintptr_t word = (uintptr_t)map->base[row];
    size_t size = (size_t)map->sizes[row];
    if (!rex_is_any_pinned())
        return false;
    if (size <= sizeof word)
        return rex_is_pinned((const void *)word);
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, (const char *)map->begin[row] + at, sizeof word);
        if (rex_is_pinned((const void *)word))
            return true;
    }
    return false;
}

/*
 * Returns true if a kernel may use the value in ROW as an address of memory that the host can read
 * without a call of librex.
 */
static bool is_seen_by_value(const struct rex_plan *plan, int32_t row, uint32_t parameter)
{
    const struct rex_map *map = plan->map;
    const struct rex_layout *layout = plan->packed.kernel->facts->layout;
    unsigned kind = rex_type_kind(map->types[row]);
    bool is_parameter = (map->types[row] & REX_MAP_TARGET_PARAM) != 0;
    if (is_parameter && layout != NULL && parameter < layout->count &&
        layout->parameter[parameter].kind == REX_KIND_POINTER)
        kind = REX_KIND_POINTER;
    /*
     * If the memory is not from rex_device_alloc(), the program may copy it without a call of
     * librex, for example by the CUDA runtime.
     */
    if (kind == REX_KIND_POINTER && map->base[row] != NULL &&
        !rex_is_device_memory(map->base[row], plan->ranges.number))
        return true;
    return has_pinned_address(map, row);
}

static void log_once(const char *kernel, const char *why)
{
    static bool is_told;
    if (rex_log_wanted(REX_LOG_INFO) && rex_log_is_first(&is_told))
        rex_log(REX_LOG_INFO, "kernel \"%.*s\" is %s", REX_KERNEL_NAME(kernel), why);
}

void rex_log_not_deferred(const struct rex_request *request)
{
    char why[REX_REASON_MAX], text[REX_REASON_MAX + 80];
    if (rex_process_reasons() == 0 && !(request->reasons & REX_REASON_DEVICE))
        return;
    rex_reason_text(rex_request_reason(request), why);
    snprintf(text, sizeof text, "waited for, though %s is off: %s",
             rex_settings[REX_OPTION_LAUNCH_BLOCKING].variable, why);
    log_once(request->target.name, text);
}

bool rex_plan_may_defer(const struct rex_plan *plan)
{
    const struct rex_map *map = plan->map;
    uint32_t parameter = plan->form == REX_FORM_ENV;
    if (plan->is_mapped || plan->own_count > 0 || plan->has_empty ||
        (plan->types & (REX_MAP_ALWAYS | REX_MAP_PRIVATE)))
        return false;
    if (!(plan->types & REX_MAP_LITERAL))
        return true;
    for (int32_t i = 0; i < map->count; i++) {
        if ((map->types[i] & REX_MAP_LITERAL) && is_seen_by_value(plan, i, parameter))
            return false;
        parameter += (map->types[i] & REX_MAP_TARGET_PARAM) != 0;
    }
    return true;
}

int rex_plan_defer(struct rex_plan *plan)
{
    struct rex_launch_context *context = plan->context;
    const struct rex_loaded_kernel *kernel = plan->packed.kernel;
    int number = plan->ranges.number;
    int result =
        rex_pack_arguments(&context->arguments, kernel, plan->form, plan->map, plan->device);
    if (result != REX_OK)
        return result;
    void *stream = rex_deferred_begin(number, context->ordinal);
    if (stream == NULL)
        return rex_device_lost(number, kernel->name);
    int found = rex_packed_put(&plan->packed, &context->arguments, stream);
    plan->ranges.launch =
        rex_deferred_put(number, kernel->name, kernel->image->registration, found);
    if (found == 0) {
        log_once(kernel->name,
                 "deferred: this launch and later ones may return before their kernels are done, "
                 "so measure kernels with rex-report, not with a clock");
        return REX_OK;
    }
    result = rex_packed_failed(&plan->packed);
    /* If the cause of the error is not this call, an earlier kernel may have failed. */
    return rex_cuda_is_of_call(found) ? result : rex_device_lost(number, kernel->name);
}
