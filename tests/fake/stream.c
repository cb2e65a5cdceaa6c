/*
 * stream.c - the part of the fake CUDA driver that queues use: it counts what exists, does nothing, and fails where it is told to.
 *
 * FAKE_CUDA_BREAKS=NAME:RESULT:N makes the N-th call of function NAME return RESULT. FAKE_OLD: a build without graphs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams, events, modules and graphs that exist. */
int fake_cuda_objects;
/* Launches so far. */
int fake_cuda_launches;

static int breaks(const char *name)
{
    static int calls;
    char wanted[64];
    int result = 0, number = 0;
    const char *setting = getenv("FAKE_CUDA_BREAKS");
    if (setting == NULL || sscanf(setting, "%63[^:]:%d:%d", wanted, &result, &number) != 3 || strcmp(wanted, name) != 0)
        return 0;
    return ++calls == number ? result : 0;
}

#define FUNCTION(name, ...)                                                                                            \
    int name(__VA_ARGS__);                                                                                             \
    int name(__VA_ARGS__)
#define BREAK(name)                                                                                                    \
    do {                                                                                                               \
        int result_ = breaks(name);                                                                                    \
        if (result_ != 0)                                                                                              \
            return result_;                                                                                            \
    } while (0)

static int make(const char *name, void **object)
{
    BREAK(name);
    *object = malloc(1);
    __atomic_fetch_add(&fake_cuda_objects, *object != NULL, __ATOMIC_RELAXED);
    return 0;
}

static int destroy(const char *name, void *object)
{
    free(object);
    __atomic_fetch_sub(&fake_cuda_objects, 1, __ATOMIC_RELAXED);
    BREAK(name);
    return 0;
}

static int same(const char *name)
{
    BREAK(name);
    return 0;
}

FUNCTION(cuCtxGetCurrent, void **context)
{
    *context = NULL;
    return same("cuCtxGetCurrent");
}
FUNCTION(cuCtxSynchronize, void)
{
    return same("cuCtxSynchronize");
}
FUNCTION(cuPointerGetAttribute, void *value, int attribute, uint64_t address)
{
    (void)attribute, (void)address;
    *(int *)value = 0;
    return same("cuPointerGetAttribute");
}
FUNCTION(cuModuleLoadData, void **module, const void *image)
{
    (void)image;
    return make("cuModuleLoadData", module);
}
FUNCTION(cuModuleUnload, void *module)
{
    return destroy("cuModuleUnload", module);
}
FUNCTION(cuModuleGetFunction, void **function, void *module, const char *name)
{
    (void)module;
    *function = (void *)(uintptr_t)name;
    return same("cuModuleGetFunction");
}
FUNCTION(cuModuleGetGlobal_v2, uint64_t *address, size_t *size, void *module, const char *name)
{
    (void)module, (void)name;
    *address = 4096;
    *size = 8;
    return same("cuModuleGetGlobal");
}
FUNCTION(cuFuncSetAttribute, void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return same("cuFuncSetAttribute");
}
FUNCTION(cuStreamCreate, void **stream, unsigned flags)
{
    (void)flags;
    return make("cuStreamCreate", stream);
}
FUNCTION(cuStreamDestroy_v2, void *stream)
{
    return destroy("cuStreamDestroy", stream);
}
FUNCTION(cuStreamSynchronize, void *stream)
{
    (void)stream;
    return same("cuStreamSynchronize");
}
FUNCTION(cuStreamQuery, void *stream)
{
    (void)stream;
    return same("cuStreamQuery");
}
FUNCTION(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return same("cuStreamWaitEvent");
}
FUNCTION(cuLaunchHostFunc, void *stream, void (*function)(void *argument), void *argument)
{
    (void)stream, (void)function, (void)argument;
    return same("cuLaunchHostFunc");
}
FUNCTION(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
         unsigned block_z, unsigned dynamic_memory, void *stream, void **parameters, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)dynamic_memory, (void)stream, (void)parameters, (void)extra;
    BREAK("cuLaunchKernel");
    __atomic_fetch_add(&fake_cuda_launches, 1, __ATOMIC_RELAXED);
    return 0;
}
FUNCTION(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t size, void *stream)
{
    (void)to, (void)from, (void)size, (void)stream;
    return same("cuMemcpyHtoDAsync");
}
FUNCTION(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t size, void *stream)
{
    (void)to, (void)from, (void)size, (void)stream;
    return same("cuMemcpyDtoHAsync");
}
FUNCTION(cuMemsetD8Async, uint64_t to, unsigned char value, size_t count, void *stream)
{
    (void)to, (void)value, (void)count, (void)stream;
    return same("cuMemsetD8Async");
}
FUNCTION(cuMemsetD16Async, uint64_t to, unsigned short value, size_t count, void *stream)
{
    (void)to, (void)value, (void)count, (void)stream;
    return same("cuMemsetD16Async");
}
FUNCTION(cuMemsetD32Async, uint64_t to, unsigned value, size_t count, void *stream)
{
    (void)to, (void)value, (void)count, (void)stream;
    return same("cuMemsetD32Async");
}
FUNCTION(cuEventCreate, void **event, unsigned flags)
{
    (void)flags;
    return make("cuEventCreate", event);
}
FUNCTION(cuEventDestroy_v2, void *event)
{
    return destroy("cuEventDestroy", event);
}
FUNCTION(cuEventRecord, void *event, void *stream)
{
    (void)event, (void)stream;
    return same("cuEventRecord");
}
FUNCTION(cuEventSynchronize, void *event)
{
    (void)event;
    return same("cuEventSynchronize");
}
FUNCTION(cuEventQuery, void *event)
{
    (void)event;
    return same("cuEventQuery");
}
FUNCTION(cuEventElapsedTime, float *milliseconds, void *begin, void *end)
{
    (void)begin, (void)end;
    *milliseconds = 1.5f;
    return same("cuEventElapsedTime");
}

#ifndef FAKE_OLD
static int capturing;

FUNCTION(cuStreamBeginCapture_v2, void *stream, int mode)
{
    (void)stream, (void)mode;
    BREAK("cuStreamBeginCapture");
    __atomic_fetch_add(&capturing, 1, __ATOMIC_RELAXED);
    return 0;
}
FUNCTION(cuStreamEndCapture, void *stream, void **graph)
{
    (void)stream;
    *graph = NULL;
    if (__atomic_fetch_sub(&capturing, 1, __ATOMIC_RELAXED) <= 0)
        return 401; /* CUDA_ERROR_ILLEGAL_STATE */
    return make("cuStreamEndCapture", graph);
}
FUNCTION(cuStreamGetCaptureInfo_v2, void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *count)
{
    static void *const node = &capturing;
    (void)stream, (void)id, (void)graph;
    *status = 1;
    *last = &node;
    *count = 1;
    return same("cuStreamGetCaptureInfo");
}
FUNCTION(cuGraphInstantiateWithFlags, void **executable, void *graph, unsigned long long flags)
{
    (void)graph, (void)flags;
    return make("cuGraphInstantiate", executable);
}
FUNCTION(cuGraphExecKernelNodeSetParams, void *executable, void *node, const void *parameters)
{
    (void)executable, (void)node, (void)parameters;
    return same("cuGraphExecKernelNodeSetParams");
}
FUNCTION(cuGraphUpload, void *executable, void *stream)
{
    (void)executable, (void)stream;
    return same("cuGraphUpload");
}
FUNCTION(cuGraphLaunch, void *executable, void *stream)
{
    (void)executable, (void)stream;
    return same("cuGraphLaunch");
}
FUNCTION(cuGraphExecDestroy, void *executable)
{
    return destroy("cuGraphExecDestroy", executable);
}
FUNCTION(cuGraphDestroy, void *graph)
{
    return destroy("cuGraphDestroy", graph);
}
#endif
