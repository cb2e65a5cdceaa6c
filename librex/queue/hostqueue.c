/*
 * hostqueue.c - work of a queue on a device that is no NVIDIA GPU: libomptarget does it, at once,
 * by the rules that hold for queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/launch.h"
#include "omp/runtime.h"
#include "queue/command.h"

static int launch(int number, const struct rex_work *work)
{
    struct rex_kernel_launch description = work->launch.description;
    description.device = number;
    return rex_launch_map(work->launch.module, &description, &work->launch.map, REX_FOR_QUEUE);
}

static int check_launch(int number, const struct rex_work *work)
{
    struct rex_kernel_launch description = work->launch.description;
    description.device = number;
    return rex_launch_check(work->launch.module, &description, &work->launch.map, REX_FOR_QUEUE);
}

/* ---- copies and fills ------------------------------------------------------------------------ */

static int check_copy(int number, const struct rex_work *work)
{
    if (work->copy.device != NULL || rex_runtime_disabled() || number == rex_device_count() ||
        rex_memory_presence(work->copy.host, work->copy.size, number) == REX_PRESENT_WHOLE)
        return REX_OK;
    return rex_fail(REX_EABSENT, "queue update: %zu bytes at %p are not mapped whole on device %d",
                    work->copy.size, work->copy.host, number);
}

static int copy(int number, const struct rex_work *work)
{
    int result = check_copy(number, work);
    bool is_update = work->copy.device == NULL;
    if (result != REX_OK || (is_update && (rex_runtime_disabled() || number == rex_device_count())))
        return result;
    void *device = is_update ? rex_device_address(work->copy.host, number) : work->copy.device;
    return work->kind == REX_WORK_COPY_TO
               ? rex_device_copy_to(device, work->copy.host, work->copy.size, number)
               : rex_device_copy_from(work->copy.host, device, work->copy.size, number);
}

#define FILL_BYTES 65536 /* at a time; a multiple of every pattern's width */

static int fill(int number, const struct rex_work *work)
{
    size_t most = work->fill.size < FILL_BYTES ? work->fill.size : FILL_BYTES;
    unsigned char *pattern = malloc(most > 0 ? most : 1);
    int result = REX_OK;
    if (pattern == NULL)
        return rex_fail_memory(most, "a fill");
    for (size_t at = 0; at < most; at += work->fill.width)
        memcpy(pattern + at, &work->fill.value, work->fill.width);
    for (size_t done = 0, part; done < work->fill.size && result == REX_OK; done += part) {
        part = work->fill.size - done < most ? work->fill.size - done : most;
        result = rex_device_copy_to((char *)work->fill.to + done, pattern, part, number);
    }
    free(pattern);
    return result;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int rex_work_check(const struct rex_work *work, int number)
{
    switch (work->kind) {
    case REX_WORK_LAUNCH: return check_launch(number, work);
    case REX_WORK_COPY_TO:
    case REX_WORK_COPY_FROM: return check_copy(number, work);
    default: return REX_OK;
    }
}

int rex_work_do(int number, const struct rex_work *work)
{
    switch (work->kind) {
    case REX_WORK_LAUNCH: return launch(number, work);
    case REX_WORK_COPY_TO:
    case REX_WORK_COPY_FROM: return copy(number, work);
    case REX_WORK_FILL: return fill(number, work);
    case REX_WORK_CALL: work->call.function(work->call.argument); return REX_OK;
    default: return REX_OK;
    }
}
