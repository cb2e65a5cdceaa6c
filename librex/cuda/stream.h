/*
 * stream.h - what queues need of the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STREAM_H
#define REX_INTERNAL_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"

#define REX_CUDA_INVALID_VALUE 1
#define REX_CUDA_NOT_READY 600

/* CUDA_KERNEL_NODE_PARAMS_v1 of cuda.h. */
struct rex_cuda_node {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    void **parameters, **extra;
};

/* X(function, name that the driver exports, CUDA release that has it first, (parameters)). */
#define REX_STREAM_FUNCTIONS(X)                                                                    \
    X(cuCtxGetCurrent, "cuCtxGetCurrent", "4.0", (void **context))                                 \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", "4.0", (void *context))                             \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", "4.0", (void **context))                              \
    X(cuCtxSynchronize, "cuCtxSynchronize", "2.0", (void))                                         \
    X(cuPointerGetAttribute, "cuPointerGetAttribute", "4.0",                                       \
      (void *value, int attribute, uint64_t address))                                              \
    X(cuModuleLoadData, "cuModuleLoadData", "2.0", (void **module, const void *image))             \
    X(cuModuleUnload, "cuModuleUnload", "2.0", (void *module))                                     \
    X(cuModuleGetFunction, "cuModuleGetFunction", "2.0",                                           \
      (void **function, void *module, const char *name))                                           \
    X(cuModuleGetGlobal, "cuModuleGetGlobal_v2", "3.2",                                            \
      (uint64_t *address, size_t *size, void *module, const char *name))                           \
    X(cuFuncSetAttribute, "cuFuncSetAttribute", "9.0", (void *function, int attribute, int value)) \
    X(cuStreamCreate, "cuStreamCreate", "2.0", (void **stream, unsigned flags))                    \
    X(cuStreamDestroy, "cuStreamDestroy_v2", "4.0", (void *stream))                                \
    X(cuStreamSynchronize, "cuStreamSynchronize", "2.0", (void *stream))                           \
    X(cuStreamQuery, "cuStreamQuery", "2.0", (void *stream))                                       \
    X(cuStreamWaitEvent, "cuStreamWaitEvent", "3.2", (void *stream, void *event, unsigned flags))  \
    X(cuLaunchHostFunc, "cuLaunchHostFunc", "10.0",                                                \
      (void *stream, void (*function)(void *), void *argument))                                    \
    X(cuLaunchKernel, "cuLaunchKernel", "4.0",                                                     \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned dynamic_memory, void *stream,                  \
       void **parameters, void **extra))                                                           \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", "3.2",                                            \
      (uint64_t to, const void *from, size_t size, void *stream))                                  \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", "3.2",                                            \
      (void *to, uint64_t from, size_t size, void *stream))                                        \
    X(cuMemsetD8Async, "cuMemsetD8Async", "3.2",                                                   \
      (uint64_t to, unsigned char value, size_t count, void *stream))                              \
    X(cuMemsetD16Async, "cuMemsetD16Async", "3.2",                                                 \
      (uint64_t to, unsigned short value, size_t count, void *stream))                             \
    X(cuMemsetD32Async, "cuMemsetD32Async", "3.2",                                                 \
      (uint64_t to, unsigned value, size_t count, void *stream))                                   \
    X(cuEventCreate, "cuEventCreate", "2.0", (void **event, unsigned flags))                       \
    X(cuEventDestroy, "cuEventDestroy_v2", "4.0", (void *event))                                   \
    X(cuEventRecord, "cuEventRecord", "2.0", (void *event, void *stream))                          \
    X(cuEventSynchronize, "cuEventSynchronize", "2.0", (void *event))                              \
    X(cuEventQuery, "cuEventQuery", "2.0", (void *event))                                          \
    X(cuEventElapsedTime, "cuEventElapsedTime", "2.0",                                             \
      (float *milliseconds, void *begin, void *end))                                               \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", "10.1", (void *stream, int mode))           \
    X(cuStreamEndCapture, "cuStreamEndCapture", "10.0", (void *stream, void **graph))              \
    X(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2", "11.3",                                 \
      (void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *count))  \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags", "11.4",                                   \
      (void **executable, void *graph, unsigned long long flags))                                  \
    X(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams", "10.1",                    \
      (void *executable, void *node, const struct rex_cuda_node *parameters))                      \
    X(cuGraphUpload, "cuGraphUpload", "11.1", (void *executable, void *stream))                    \
    X(cuGraphLaunch, "cuGraphLaunch", "10.0", (void *executable, void *stream))                    \
    X(cuGraphExecDestroy, "cuGraphExecDestroy", "10.0", (void *executable))                        \
    X(cuGraphDestroy, "cuGraphDestroy", "10.0", (void *graph))

struct rex_stream_driver {
#define REX_STREAM_SLOT(function, name, since, parameters) int(*function) parameters;
    REX_STREAM_FUNCTIONS(REX_STREAM_SLOT)
#undef REX_STREAM_SLOT
    int (*cuFuncLoad)(void *function); /* NULL before CUDA 12.4 */
};
extern struct rex_stream_driver rex_stream_driver;

/*
 * Every driver call of queues goes through here: 0, or its result, with the call and the result's
 * name in rex_cuda_why().
 */
#define REX_STREAM(function, ...) \
    rex_cuda_record(rex_stream_driver.function(__VA_ARGS__), #function)

/*
 * Find the functions above, once. 0, or -1 with rex_cuda_why(): there is no GPU, or the driver is
 * too old for queues.
 */
int rex_stream_ready(void);

/*
 * Make CONTEXT current where it is not: 1 if rex_stream_leave() has to undo that, 0 if not, -1 with
 * rex_cuda_why().
 */
static inline int rex_stream_enter(void *context)
{
    void *current = NULL;
    if (__builtin_expect(rex_stream_driver.cuCtxGetCurrent(&current) == 0 && current == context, 1))
        return 0;
    return REX_STREAM(cuCtxPushCurrent, context) == 0 ? 1 : -1;
}

static inline void rex_stream_leave(int entered)
{
    void *context;
    if (entered > 0)
        rex_stream_driver.cuCtxPopCurrent(&context);
}

#endif
