/*
 * submit.c - work on its way to a stream of the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "queue/event.h"
#include "omp/rowlog.h"
#include "queue/command.h"

static int failed(const char *what)
{
    return rex_fail(REX_ECUDA, "%s: %s", what, rex_cuda_why());
}

static void log_launch(const struct rex_stream_gpu *gpu, const struct rex_work *work,
                       const struct rex_packed *packed)
{
    const struct rex_map *map = &work->launch.map;
    struct __tgt_kernel_arguments packet = {.NumArgs = (uint32_t)map->count,
                                            .ArgsBase = map->base,
                                            .Args = map->begin,
                                            .ArgSizes = map->sizes,
                                            .ArgTypes = map->types,
                                            .ArgMappers = map->mappers,
                                            .DynCGroupMem = packed->dynamic_memory};
    memcpy(packet.Teams, packed->grid, sizeof packet.Teams);
    memcpy(packet.Threads, packed->block, sizeof packet.Threads);
    rex_rows_log(packed->kernel->name, gpu->number, &packet);
}

static int issue_launch(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work,
                        struct rex_queue_kernel **kernel)
{
    struct rex_packed packed;
    int result = rex_pack_launch(gpu, work->launch.module, &work->launch.description,
                                 &work->launch.map, &packed);
    if (result != REX_OK)
        return result;
    if (kernel != NULL)
        *kernel = packed.kernel;
    if (rex_rows_wanted())
        log_launch(gpu, work, &packed);
    if (REX_CUDA(cuLaunchKernel, packed.kernel->function, packed.grid[0], packed.grid[1],
                 packed.grid[2], packed.block[0], packed.block[1], packed.block[2],
                 packed.dynamic_memory, stream, gpu->address, NULL) == 0)
        return REX_OK;
    return rex_fail(REX_ECUDA,
                    "kernel \"%s\", %u x %u x %u teams of %u x %u x %u threads, %u bytes of "
                    "dynamic shared memory: %s",
                    packed.kernel->name, packed.grid[0], packed.grid[1], packed.grid[2],
                    packed.block[0], packed.block[1], packed.block[2], packed.dynamic_memory,
                    rex_cuda_why());
}

/*
 * The device's side of a copy. An address that the program names itself may be that of mapped
 * memory, too.
 */
static int find_device_side(struct rex_stream_gpu *gpu, const struct rex_work *work,
                            uint64_t *device)
{
    *device = (uint64_t)(uintptr_t)work->copy.device;
    if (work->copy.device != NULL)
        rex_spans_use_range(&gpu->spans, *device, work->copy.size);
    else
        *device = rex_spans_find(&gpu->spans, work->copy.host, work->copy.size, gpu->number,
                                 rex_spans_generation(gpu->remember));
    return *device != 0
               ? REX_OK
               : rex_fail(REX_EABSENT,
                          "queue update: %zu bytes at %p are not mapped whole on device %d",
                          work->copy.size, work->copy.host, gpu->number);
}

static int issue_copy(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work)
{
    uint64_t device = 0;
    int result = find_device_side(gpu, work, &device);
    if (result != REX_OK || work->copy.size == 0)
        return result;
    if (work->kind == REX_WORK_COPY_TO)
        return REX_CUDA(cuMemcpyHtoDAsync, device, work->copy.host, work->copy.size, stream) == 0
                   ? REX_OK
                   : failed("a copy to the device");
    return REX_CUDA(cuMemcpyDtoHAsync, work->copy.host, device, work->copy.size, stream) == 0
               ? REX_OK
               : failed("a copy from the device");
}

static int issue_fill(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work)
{
    uint64_t to = (uint64_t)(uintptr_t)work->fill.to;
    rex_spans_use_range(&gpu->spans, to, work->fill.size);
    uint32_t value = work->fill.value;
    size_t count = work->fill.size / work->fill.width;
    int result = count == 0 ? 0
                 : work->fill.width == 1
                     ? REX_CUDA(cuMemsetD8Async, to, (unsigned char)value, count, stream)
                 : work->fill.width == 2
                     ? REX_CUDA(cuMemsetD16Async, to, (unsigned short)value, count, stream)
                     : REX_CUDA(cuMemsetD32Async, to, value, count, stream);
    return result == 0 ? REX_OK : failed("a fill");
}

static int issue_call(void *stream, const struct rex_work *work)
{
    return REX_CUDA(cuLaunchHostFunc, stream, work->call.function, work->call.argument) == 0
               ? REX_OK
               : failed("a call from a queue");
}

int rex_work_issue(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work,
                   struct rex_queue_kernel **kernel)
{
    switch (work->kind) {
    case REX_WORK_LAUNCH: return issue_launch(gpu, stream, work, kernel);
    case REX_WORK_COPY_TO:
    case REX_WORK_COPY_FROM: return issue_copy(gpu, stream, work);
    case REX_WORK_FILL: return issue_fill(gpu, stream, work);
    case REX_WORK_CALL: return issue_call(stream, work);
    case REX_WORK_RECORD: return rex_event_issue_record(work->event.event, gpu, stream);
    default: return rex_event_issue_wait(work->event.event, stream);
    }
}
