/*
 * driver.c - the CUDA driver without anything above it: one stream, asynchronous copies, one wait for each call. What is mapped is kept in
 * a short list; device memory is kept for the next mapping of its size, or freed at the end of its mapping (PEER_FREES).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "rex_kmp.h"

enum { MOST_KERNELS = 16, MOST_MAPPED = 64, MOST_ROWS = 256 };

/* A host range on the device; USES 0: free, its memory kept. */
static struct mapped {
    const char *host;
    size_t size;
    CUdeviceptr device;
    int uses;
} mapped[MOST_MAPPED];

static struct {
    const void *key;
    CUfunction function;
} kernels[MOST_KERNELS];

static int kernel_count, mapped_count;
static int frees; /* PEER_FREES: memory is freed when its mapping ends */
static CUcontext context;
static __thread CUstream stream; /* one for each thread that launches */

const char *peer_name(void)
{
    return "CUDA driver";
}

static int checked(CUresult result, const char *call)
{
    const char *name = "unknown";
    if (result == CUDA_SUCCESS)
        return 0;
    cuGetErrorName(result, &name);
    return peer_fail("%s: %s", call, name);
}
#define CHECKED(call) checked(call, #call)

int peer_open(const struct rex_module *module)
{
    CUdevice device;
    CUmodule loaded;
    size_t size;
    const void *image = peer_image(module, &size);
    frees = getenv("PEER_FREES") != NULL;
    if (image == NULL || CHECKED(cuInit(0)) || CHECKED(cuDeviceGet(&device, 0)) || CHECKED(cuDevicePrimaryCtxRetain(&context, device)) ||
        CHECKED(cuCtxSetCurrent(context)) || CHECKED(cuModuleLoadData(&loaded, image)))
        return -1;
    for (const struct __tgt_offload_entry *entry = module->entries_begin; entry < module->entries_end; entry++) {
        if (kernel_count == MOST_KERNELS || entry->size != 0)
            return peer_fail("only %d kernels, and no globals", MOST_KERNELS);
        kernels[kernel_count].key = entry->addr;
        if (CHECKED(cuModuleGetFunction(&kernels[kernel_count].function, loaded, entry->name)))
            return -1;
        kernel_count++;
    }
    return 0;
}

static int need_stream(void)
{
    return stream != NULL || (CHECKED(cuCtxSetCurrent(context)) == 0 && CHECKED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) == 0) ? 0
                                                                                                                                       : -1;
}

void *rex_host_alloc(size_t size)
{
    void *memory = NULL;
    return CHECKED(cuMemHostAlloc(&memory, size, 0)) == 0 ? memory : NULL;
}

/* ---- what is mapped --------------------------------------------------------------------------------------------------------- */

static struct mapped *find(const void *host)
{
    const char *address = host;
    for (int i = 0; i < mapped_count; i++)
        if (mapped[i].uses > 0 && address >= mapped[i].host && address < mapped[i].host + mapped[i].size)
            return &mapped[i];
    return NULL;
}

static struct mapped *find_free(size_t size)
{
    for (int i = 0; i < mapped_count; i++)
        if (mapped[i].uses == 0 && mapped[i].size == size)
            return &mapped[i];
    if (mapped_count == MOST_MAPPED) {
        peer_fail("more than %d mappings", MOST_MAPPED);
        return NULL;
    }
    struct mapped *fresh = &mapped[mapped_count];
    if (CHECKED(cuMemAlloc(&fresh->device, size)))
        return NULL;
    mapped_count++;
    fresh->size = size;
    fresh->uses = 0;
    return fresh;
}

static CUdeviceptr address_in(const struct mapped *entry, const void *host)
{
    return entry->device + (CUdeviceptr)((const char *)host - entry->host);
}

static int copy(const struct mapped *entry, void *host, size_t size, int64_t direction)
{
    CUdeviceptr device = address_in(entry, host);
    return direction == REX_MAP_TO ? CHECKED(cuMemcpyHtoDAsync(device, host, size, stream))
                                   : CHECKED(cuMemcpyDtoHAsync(host, device, size, stream));
}

static struct mapped *map(void *host, size_t size, int64_t type)
{
    struct mapped *entry = find(host);
    int fresh = entry == NULL;
    if (fresh && (entry = find_free(size)) == NULL)
        return NULL;
    if (fresh)
        entry->host = host;
    entry->uses++;
    return !(fresh && type & REX_MAP_TO) || copy(entry, host, size, REX_MAP_TO) == 0 ? entry : NULL;
}

static int unmap(void *host, size_t size, int64_t type)
{
    struct mapped *entry = find(host);
    if (entry == NULL)
        return 0;
    if (entry->uses == 1 && type & REX_MAP_FROM && copy(entry, host, size, REX_MAP_FROM) != 0)
        return -1;
    if (--entry->uses > 0 || !frees)
        return 0;
    CUdeviceptr device = entry->device;
    *entry = mapped[--mapped_count];
    return CHECKED(cuStreamSynchronize(stream)) || CHECKED(cuMemFree(device)) ? -1 : 0;
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------- */

static int is_mapped(const struct peer_rows *rows, int32_t row)
{
    return !(rows->types[row] & REX_MAP_LITERAL) && rows->sizes[row] > 0;
}

int peer_data(enum peer_data what, const struct peer_rows *rows)
{
    if (need_stream() != 0)
        return -1;
    for (int32_t i = 0; i < rows->count; i++) {
        void *host = rows->begin[i];
        size_t size = (size_t)rows->sizes[i];
        const struct mapped *entry = find(host);
        int failed = 0;
        if (!is_mapped(rows, i))
            continue;
        switch (what) {
        case PEER_BEGIN: failed = map(host, size, rows->types[i]) == NULL; break;
        case PEER_END: failed = unmap(host, size, rows->types[i]); break;
        case PEER_UPDATE: failed = entry == NULL || copy(entry, host, size, rows->types[i] & REX_MAP_TO ? REX_MAP_TO : REX_MAP_FROM) != 0;
        }
        if (failed)
            return -1;
    }
    return CHECKED(cuStreamSynchronize(stream));
}

static CUfunction function_of(const void *key)
{
    for (int i = 0; i < kernel_count; i++)
        if (kernels[i].key == key)
            return kernels[i].function;
    return NULL;
}

int peer_launch(const void *key, const uint32_t *teams, const uint32_t *threads, uint32_t dynamic_memory, uint64_t trip_count,
                const struct peer_rows *rows)
{
    CUdeviceptr values[MOST_ROWS];
    void *parameters[MOST_ROWS];
    (void)trip_count;
    if (need_stream() != 0)
        return -1;
    if (rows->count > MOST_ROWS)
        return peer_fail("more than %d rows", MOST_ROWS);
    for (int32_t i = 0; i < rows->count; i++) {
        parameters[i] = &values[i];
        values[i] = (CUdeviceptr)(uintptr_t)rows->base[i];
        if (!is_mapped(rows, i))
            continue;
        const struct mapped *entry = map(rows->begin[i], (size_t)rows->sizes[i], rows->types[i]);
        if (entry == NULL)
            return -1;
        values[i] = address_in(entry, rows->base[i]);
    }
    if (CHECKED(cuLaunchKernel(function_of(key), teams[0], 1, 1, threads[0], 1, 1, dynamic_memory, stream, parameters, NULL)))
        return -1;
    for (int32_t i = 0; i < rows->count; i++)
        if (is_mapped(rows, i) && unmap(rows->begin[i], (size_t)rows->sizes[i], rows->types[i]) != 0)
            return -1;
    return CHECKED(cuStreamSynchronize(stream));
}
