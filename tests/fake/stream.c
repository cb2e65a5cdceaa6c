/*
 * stream.c - the part of the fake CUDA driver that queues use: it counts calls and what exists, computes nothing, and fails where it is
 * told to.
 *
 * FAKE_CUDA_ORDINAL is the device whose memory all memory is (0). FAKE_OLD: a build without graphs, and without what came later.
 *
 * As the real driver by default since CUDA 12.2, it loads a kernel when it is first needed, and cannot while the device is at work.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Streams, events, modules and graphs that exist. */
int fake_cuda_objects;
/* Launches so far. */
int fake_cuda_launches;
/* Set by a test: the device is at work until somebody waits for it. */
int fake_cuda_busy;
/* Set by a test: a kernel has failed, and with it all that comes after. */
int fake_cuda_lost;
/* Kernels that had to be loaded while it was: a real driver may wait for ever there. */
int fake_cuda_late_loads;
/* Bytes of dynamic shared memory that the last launch, or change of one in a graph, asked for. */
unsigned fake_cuda_dynamic_memory;
/* The last copy: to, from, bytes, 0; or fill: to, value, how many times, and how wide the value is. */
uint64_t fake_cuda_moved[4];
/* Set by a test: sees each launch, and each change of one in a graph. */
void (*fake_cuda_watch)(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters);

/* ---- calls ------------------------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    int count;
} calls[64];

/* How often the function was called; NULL: all of them. */
int fake_cuda_calls(const char *name);
int fake_cuda_calls(const char *name)
{
    int count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name != NULL; i++)
        count += name == NULL || strcmp(calls[i].name, name) == 0 ? calls[i].count : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

static int count(const char *name)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (calls[i].name != NULL && strcmp(calls[i].name, name) != 0)
        i++;
    calls[i].name = name;
    int number = ++calls[i].count;
    pthread_mutex_unlock(&lock);
    return number;
}

static int breaks(const char *name)
{
    count(name);
    return fake_cuda_lost != 0 ? fake_cuda_lost : fake_cuda_result(name);
}

#define BREAK(name) FAIL_WITH(breaks(name))

/* ---- what exists --------------------------------------------------------------------------------------------------------------------- */

int cuCtxGetCurrent(void **context);

static void *current(void)
{
    void *context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

/* An object is where its context stands. */
static int make(const char *name, void **object)
{
    BREAK(name);
    if (current() == NULL)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    *object = malloc(sizeof(void *));
    if (*object != NULL)
        *(void **)*object = current();
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

FUNCTION(cuCtxSynchronize, void)
{
    return same("cuCtxSynchronize");
}
FUNCTION(cuPointerGetAttribute, void *value, int attribute, uint64_t address)
{
    const char *ordinal = getenv("FAKE_CUDA_ORDINAL");
    (void)attribute, (void)address;
    *(int *)value = ordinal != NULL ? atoi(ordinal) : 0;
    return same("cuPointerGetAttribute");
}
FUNCTION(cuModuleLoadData, void **module, const void *image)
{
    (void)image;
    return make("cuModuleLoadData", module);
}
static void forget(const void *module);
FUNCTION(cuModuleUnload, void *module)
{
    forget(module);
    return destroy("cuModuleUnload", module);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------------- */

static struct kernel {
    void *module;
    const char *name;
    int loaded;
} kernels[1024];

/* Its address may come again. */
static void forget(const void *module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].module == module)
            kernels[i] = (struct kernel){NULL, "", 0};
    pthread_mutex_unlock(&lock);
}

static void load(struct kernel *kernel)
{
    if (!__atomic_exchange_n(&kernel->loaded, 1, __ATOMIC_RELAXED) && __atomic_load_n(&fake_cuda_busy, __ATOMIC_RELAXED))
        __atomic_fetch_add(&fake_cuda_late_loads, 1, __ATOMIC_RELAXED);
}

FUNCTION(cuModuleGetFunction, void **function, void *module, const char *name)
{
    size_t i = 0;
    BREAK("cuModuleGetFunction");
    pthread_mutex_lock(&lock);
    while (kernels[i].name != NULL && (kernels[i].module != module || strcmp(kernels[i].name, name) != 0))
        i++;
    kernels[i].module = module;
    kernels[i].name = name;
    pthread_mutex_unlock(&lock);
    *function = &kernels[i];
#ifdef FAKE_OLD
    load(&kernels[i]);
#endif
    return 0;
}
#ifndef FAKE_OLD
FUNCTION(cuFuncLoad, void *function)
{
    BREAK("cuFuncLoad");
    load(function);
    return 0;
}
#endif

static void see(struct kernel *kernel, const unsigned *grid, const unsigned *block, unsigned dynamic_memory, void **parameters)
{
    load(kernel);
    __atomic_store_n(&fake_cuda_dynamic_memory, dynamic_memory, __ATOMIC_RELAXED);
    if (fake_cuda_watch != NULL)
        fake_cuda_watch(kernel->name, grid, block, parameters);
}

/* ---- streams ---------------------------------------------------------------------------------------------------------------------- */
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
    BREAK("cuStreamSynchronize");
    __atomic_store_n(&fake_cuda_busy, 0, __ATOMIC_RELAXED);
    return 0;
}
FUNCTION(cuStreamQuery, void *stream)
{
    (void)stream;
    BREAK("cuStreamQuery");
    return __atomic_load_n(&fake_cuda_busy, __ATOMIC_RELAXED) ? 600 : 0; /* CUDA_ERROR_NOT_READY */
}
/* A look at the event, which AddressSanitizer and ThreadSanitizer see: it must not be destroyed meanwhile. */
static int with_event(const char *name, const void *event)
{
    BREAK(name);
    return *(void *const *)event != NULL ? 0 : 400;
}

FUNCTION(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
{
    (void)stream, (void)flags;
    return with_event("cuStreamWaitEvent", event);
}
FUNCTION(cuLaunchHostFunc, void *stream, void (*function)(void *argument), void *argument)
{
    (void)stream, (void)function, (void)argument;
    return same("cuLaunchHostFunc");
}
FUNCTION(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
         unsigned block_z, unsigned dynamic_memory, void *stream, void **parameters, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    (void)extra;
    BREAK("cuLaunchKernel");
    if (*(void **)((struct kernel *)function)->module != *(void **)stream)
        return 400; /* CUDA_ERROR_INVALID_HANDLE: the kernel is another context's */
    see(function, grid, block, dynamic_memory, parameters);
    __atomic_fetch_add(&fake_cuda_launches, 1, __ATOMIC_RELAXED);
    return 0;
}
static void move(uint64_t to, uint64_t from, size_t size, unsigned width)
{
    const uint64_t moved[] = {to, from, size, width};
    memcpy(fake_cuda_moved, moved, sizeof moved);
}

FUNCTION(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t size, void *stream)
{
    move(to, (uintptr_t)from, size, 0);
    return current() == *(void **)stream ? same("cuMemcpyHtoDAsync") : 400;
}
FUNCTION(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t size, void *stream)
{
    move((uintptr_t)to, from, size, 0);
    return current() == *(void **)stream ? same("cuMemcpyDtoHAsync") : 400;
}
FUNCTION(cuMemsetD8Async, uint64_t to, unsigned char value, size_t count, void *stream)
{
    (void)stream;
    move(to, value, count, 1);
    return same("cuMemsetD8Async");
}
FUNCTION(cuMemsetD16Async, uint64_t to, unsigned short value, size_t count, void *stream)
{
    (void)stream;
    move(to, value, count, 2);
    return same("cuMemsetD16Async");
}
FUNCTION(cuMemsetD32Async, uint64_t to, unsigned value, size_t count, void *stream)
{
    (void)stream;
    move(to, value, count, 4);
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
    (void)stream;
    return with_event("cuEventRecord", event);
}
FUNCTION(cuEventSynchronize, void *event)
{
    return with_event("cuEventSynchronize", event);
}
FUNCTION(cuEventQuery, void *event)
{
    return with_event("cuEventQuery", event);
}
FUNCTION(cuEventElapsedTime, float *milliseconds, void *begin, void *end)
{
    *milliseconds = 1.5f;
    int result = with_event("cuEventElapsedTime", begin);
    return result == 0 && *(void **)begin != *(void **)end ? 400 : result;
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
/* CUDA_KERNEL_NODE_PARAMS_v1 */
struct node {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    void **parameters, **extra;
};
FUNCTION(cuGraphExecKernelNodeSetParams, void *executable, void *node, const struct node *parameters)
{
    (void)executable, (void)node;
    BREAK("cuGraphExecKernelNodeSetParams");
    see(parameters->function, parameters->grid, parameters->block, parameters->dynamic_memory, parameters->parameters);
    return 0;
}
FUNCTION(cuGraphUpload, void *executable, void *stream)
{
    (void)executable, (void)stream;
    return same("cuGraphUpload");
}
FUNCTION(cuGraphLaunch, void *executable, void *stream)
{
    return *(void **)executable == *(void **)stream ? same("cuGraphLaunch") : 400;
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
