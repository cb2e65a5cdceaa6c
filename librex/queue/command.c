/*
 * command.c - does a command of a queue: puts it in a stream of the CUDA driver. On a device that
 * is no NVIDIA GPU libomptarget does it at once, by the rules for queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "cuda/context.h"
#include "launch/launch.h"
#include "memory/staging.h"
#include "omp/callreport.h"
#include "omp/columns.h"
#include "omp/present.h"
#include "omp/runtime.h"
#include "queue/event.h"
#include "queue/peer.h"
#include "rex/interop.h"

/* ---- in a stream ----------------------------------------------------------------------------- */

static int failed(const char *what)
{
    return rex_fail(REX_ECUDA, "%s: %s", what, rex_cuda_why());
}

static void log_launch(const struct rex_stream_gpu *gpu, const struct rex_command *command,
                       const struct rex_packed *packed)
{
    struct __tgt_kernel_arguments packet = rex_packet_of_map(&command->launch.map);
    packet.DynCGroupMem = (int32_t)packed->dynamic_memory;
    memcpy(packet.Teams, packed->grid, sizeof packet.Teams);
    memcpy(packet.Threads, packed->block, sizeof packet.Threads);
    rex_rows_log(packed->kernel->name, gpu->number, &packet);
}

static int submit_launch(struct rex_stream_gpu *gpu, void *stream,
                         const struct rex_command *command, struct rex_loaded_kernel **kernel)
{
    struct rex_packed packed;
    int result = rex_pack_launch(gpu, command->launch.module, &command->launch.description,
                                 &command->launch.map, &packed);
    if (result != REX_OK)
        return result;
    *kernel = packed.kernel;
    if (rex_rows_wanted())
        log_launch(gpu, command, &packed);
    return rex_packed_launch(&packed, &gpu->arguments, stream);
}

/*
 * Finds the device address of a copy. An address from the program may be that of mapped memory,
 * too, so it is marked as used.
 */
static int find_device_side(struct rex_stream_gpu *gpu, const struct rex_command *command,
                            uint64_t *device)
{
    *device = (uint64_t)(uintptr_t)command->copy.device;
    if (command->copy.device != NULL)
        rex_addresses_use_range(&gpu->addresses, *device, command->copy.size);
    else
        *device = rex_addresses_find(&gpu->addresses, command->copy.host, command->copy.size,
                                     gpu->number, rex_addresses_generation(gpu->remember));
    return *device != 0
               ? REX_OK
               : rex_fail(REX_EABSENT,
                          "queue update: %zu bytes at %p are not mapped whole on device %d",
                          command->copy.size, command->copy.host, gpu->number);
}

/*
 * Threads make a large copy of ordinary memory, for which the driver would wait, too. They wait
 * until the stream is done, and the copy is complete on return, so that the next command in the
 * stream comes after it. False: the driver has to copy.
 */
static bool copy_by_threads(const struct rex_stream_gpu *gpu, void *stream,
                            const struct rex_command *command, uint64_t device)
{
    struct rex_staged_copy copy = {.host = command->copy.host,
                                   .device = device,
                                   .size = command->copy.size,
                                   .to_host = command->kind == REX_COMMAND_COPY_FROM};
    return gpu->is_queue && rex_staging_copy(&copy, stream);
}

static int submit_copy(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command)
{
    uint64_t device = 0;
    int result = find_device_side(gpu, command, &device);
    if (result != REX_OK || copy_by_threads(gpu, stream, command, device))
        return result;
    if (command->kind == REX_COMMAND_COPY_TO)
        return REX_CUDA(cuMemcpyHtoDAsync, device, command->copy.host, command->copy.size,
                        stream) == 0
                   ? REX_OK
                   : failed("a copy to the device");
    return REX_CUDA(cuMemcpyDtoHAsync, command->copy.host, device, command->copy.size, stream) == 0
               ? REX_OK
               : failed("a copy from the device");
}

static int submit_fill(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command)
{
    uint64_t to = (uint64_t)(uintptr_t)command->fill.to;
    rex_addresses_use_range(&gpu->addresses, to, command->fill.size);
    uint32_t value = command->fill.value;
    size_t count = command->fill.size / command->fill.width;
    int result = count == 0 ? 0
                 : command->fill.width == 1
                     ? REX_CUDA(cuMemsetD8Async, to, (unsigned char)value, count, stream)
                 : command->fill.width == 2
                     ? REX_CUDA(cuMemsetD16Async, to, (unsigned short)value, count, stream)
                     : REX_CUDA(cuMemsetD32Async, to, value, count, stream);
    return result == 0 ? REX_OK : failed("a fill");
}

static int submit_call(void *stream, const struct rex_command *command)
{
    return REX_CUDA(cuLaunchHostFunc, stream, command->call.function, command->call.argument) == 0
               ? REX_OK
               : failed("a call from a queue");
}

int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return submit_launch(gpu, stream, command, kernel);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return submit_copy(gpu, stream, command);
    case REX_COMMAND_COPY_PEER: return rex_peer_submit(gpu, stream, command);
    case REX_COMMAND_FILL: return submit_fill(gpu, stream, command);
    case REX_COMMAND_CALL: return submit_call(stream, command);
    case REX_COMMAND_RECORD: return rex_event_submit_record(command->event.event, gpu, stream);
    default: return rex_event_submit_wait(command->event.event, stream);
    }
}

int rex_graph_submit(void *executable, void *stream)
{
    return REX_CUDA(cuGraphLaunch, executable, stream);
}

/* ---- at once --------------------------------------------------------------------------------- */

static int launch(int number, const struct rex_command *command)
{
    struct rex_launch_config description = command->launch.description;
    description.device = number;
    return rex_launch_map(command->launch.module, &description, &command->launch.map,
                          REX_FOR_QUEUE);
}

static int check_launch(int number, const struct rex_command *command)
{
    struct rex_launch_config description = command->launch.description;
    description.device = number;
    return rex_launch_check(command->launch.module, &description, &command->launch.map,
                            REX_FOR_QUEUE);
}

/* ---- copies and fills at once ---------------------------------------------------------------- */

static int check_copy(int number, const struct rex_command *command)
{
    if (command->copy.device != NULL || rex_runtime_disabled() || number == rex_device_count() ||
        rex_memory_presence(command->copy.host, command->copy.size, number) == REX_PRESENT_WHOLE)
        return REX_OK;
    return rex_fail(REX_EABSENT, "queue update: %zu bytes at %p are not mapped whole on device %d",
                    command->copy.size, command->copy.host, number);
}

static int copy(int number, const struct rex_command *command)
{
    int result = check_copy(number, command);
    bool is_update = command->copy.device == NULL;
    if (result != REX_OK || (is_update && (rex_runtime_disabled() || number == rex_device_count())))
        return result;
    void *device = is_update ? rex_mapped_ptr(command->copy.host, number) : command->copy.device;
    return command->kind == REX_COMMAND_COPY_TO
               ? rex_device_copy_to(device, command->copy.host, command->copy.size, number)
               : rex_device_copy_from(command->copy.host, device, command->copy.size, number);
}

#define FILL_BYTES 65536 /* per copy; a multiple of each pattern's width */

static int fill(int number, const struct rex_command *command)
{
    size_t most = command->fill.size < FILL_BYTES ? command->fill.size : FILL_BYTES;
    unsigned char *pattern = malloc(most > 0 ? most : 1);
    int result = REX_OK;
    if (pattern == NULL)
        return rex_fail_memory(most, "a fill");
    for (size_t at = 0; at < most; at += command->fill.width)
        memcpy(pattern + at, &command->fill.value, command->fill.width);
    for (size_t done = 0, part; done < command->fill.size && result == REX_OK; done += part) {
        part = command->fill.size - done < most ? command->fill.size - done : most;
        result = rex_device_copy_to((char *)command->fill.to + done, pattern, part, number);
    }
    free(pattern);
    return result;
}

/* ---- all kinds at once ----------------------------------------------------------------------- */

int rex_command_check(const struct rex_command *command, int number)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return check_launch(number, command);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return check_copy(number, command);
    default: return REX_OK;
    }
}

REX_NO_STACK_GUARD
int rex_command_do(int number, const struct rex_command *command)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return launch(number, command);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return copy(number, command);
    case REX_COMMAND_COPY_PEER:
        return rex_device_copy_peer(command->peer.to, command->peer.to_device, command->peer.from,
                                    command->peer.from_device, command->peer.size);
    case REX_COMMAND_FILL: return fill(number, command);
    case REX_COMMAND_CALL: command->call.function(command->call.argument); return REX_OK;
    default: return REX_OK;
    }
}
