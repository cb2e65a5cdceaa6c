/*
 * driver.h - the CUDA driver, opened at run time: the one table of its functions, and the one way
 * to call them.
 *
 * Names and numbers are those of the CUDA Driver API, stable since CUDA 3.2. Everything in librex
 * that calls the driver does so through this table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVER_H
#define REX_INTERNAL_DRIVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the functions --------------------------------------------------------------------------- */

/* The purpose of a function. A driver too old for one thing is good enough for the others. */
enum rex_cuda_group {
    REX_CUDA_START,      /* anything at all: without it there is no GPU */
    REX_CUDA_QUEUES,     /* launches, queues and graphs */
    REX_CUDA_ATTRIBUTES, /* launches with attributes */
    REX_CUDA_LINKER,     /* compiling PTX */
    REX_CUDA_OPTIONAL,   /* nothing: NULL where the driver lacks it */
    REX_CUDA_GROUPS
};

/* CUDA_KERNEL_NODE_PARAMS_v1 of cuda.h. */
struct rex_cuda_kernel_node {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    void **parameters, **extra;
};

/* CUlaunchAttribute of cuda.h, and the CUlaunchConfig of a launch. */
struct rex_cuda_attribute {
    int id; /* REX_CUDA_COOPERATIVE or REX_CUDA_CLUSTER */
    char pad[4];
    union {
        char size[64];
        int is_cooperative;
        unsigned cluster[3];
    } value;
};
struct rex_cuda_launch {
    unsigned grid[3], block[3], dynamic_memory;
    void *stream;
    struct rex_cuda_attribute *attributes;
    unsigned count;
};

/*
 * X(group, function, suffix of the name that the driver exports, CUDA release that has it first,
 * (parameters)). A message names the first of a group that is missing.
 */
/* clang-format off */
#define REX_CUDA_FUNCTIONS(X)                                                                     \
    X(START, cuInit, "", "2.0", (unsigned flags))                                                 \
    X(START, cuDriverGetVersion, "", "2.2", (int *version))                                       \
    X(START, cuDeviceGetCount, "", "2.0", (int *count))                                           \
    X(START, cuDeviceGet, "", "2.0", (int *device, int ordinal))                                  \
    X(START, cuDeviceGetAttribute, "", "2.0", (int *value, int attribute, int device))            \
    X(START, cuDeviceGetName, "", "2.0", (char *name, int size, int device))                      \
    X(START, cuDeviceTotalMem, "_v2", "3.2", (size_t *bytes, int device))                         \
    X(START, cuGetErrorName, "", "6.0", (int result, const char **name))                          \
    X(START, cuDevicePrimaryCtxGetState, "", "7.0", (int device, unsigned *flags, int *active))   \
    X(START, cuDevicePrimaryCtxRetain, "", "7.0", (void **context, int device))                   \
    X(START, cuCtxGetCurrent, "", "4.0", (void **context))                                        \
    X(START, cuCtxPushCurrent, "_v2", "4.0", (void *context))                                     \
    X(START, cuCtxPopCurrent, "_v2", "4.0", (void **context))                                     \
    X(START, cuMemHostAlloc, "", "2.2", (void **memory, size_t size, unsigned flags))             \
    X(START, cuMemFreeHost, "", "2.0", (void *memory))                                            \
    X(START, cuMemHostRegister, "_v2", "6.5", (void *address, size_t size, unsigned flags))       \
    X(START, cuMemHostUnregister, "", "4.0", (void *address))                                     \
    X(START, cuDevicePrimaryCtxSetFlags, "_v2", "11.0", (int device, unsigned flags))             \
    X(START, cuDevicePrimaryCtxRelease, "_v2", "11.0", (int device))                              \
    X(QUEUES, cuCtxSynchronize, "", "2.0", (void))                                                \
    X(QUEUES, cuMemAlloc, "_v2", "3.2", (uint64_t *address, size_t size))                         \
    X(QUEUES, cuMemFree, "_v2", "3.2", (uint64_t address))                                        \
    X(QUEUES, cuPointerGetAttribute, "", "4.0", (void *value, int attribute, uint64_t address))   \
    X(QUEUES, cuModuleLoadData, "", "2.0", (void **module, const void *image))                    \
    X(QUEUES, cuModuleUnload, "", "2.0", (void *module))                                          \
    X(QUEUES, cuModuleGetFunction, "", "2.0", (void **function, void *module, const char *name))  \
    X(QUEUES, cuModuleGetGlobal, "_v2", "3.2",                                                    \
      (uint64_t *address, size_t *size, void *module, const char *name))                          \
    X(QUEUES, cuFuncSetAttribute, "", "9.0", (void *function, int attribute, int value))          \
    X(QUEUES, cuStreamCreate, "", "2.0", (void **stream, unsigned flags))                         \
    X(QUEUES, cuStreamCreateWithPriority, "", "5.5",                                              \
      (void **stream, unsigned flags, int priority))                                              \
    X(QUEUES, cuStreamGetPriority, "", "5.5", (void *stream, int *priority))                      \
    X(QUEUES, cuStreamDestroy, "_v2", "4.0", (void *stream))                                      \
    X(QUEUES, cuStreamSynchronize, "", "2.0", (void *stream))                                     \
    X(QUEUES, cuStreamQuery, "", "2.0", (void *stream))                                           \
    X(QUEUES, cuStreamGetCtx, "", "9.2", (void *stream, void **context))                          \
    X(QUEUES, cuStreamWaitEvent, "", "3.2", (void *stream, void *event, unsigned flags))          \
    X(QUEUES, cuLaunchHostFunc, "", "10.0",                                                       \
      (void *stream, void (*function)(void *), void *argument))                                   \
    X(QUEUES, cuLaunchKernel, "", "4.0",                                                          \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
       unsigned block_y, unsigned block_z, unsigned dynamic_memory, void *stream,                 \
       void **parameters, void **extra))                                                          \
    X(QUEUES, cuMemcpyHtoDAsync, "_v2", "3.2",                                                    \
      (uint64_t to, const void *from, size_t size, void *stream))                                 \
    X(QUEUES, cuMemcpyDtoHAsync, "_v2", "3.2",                                                    \
      (void *to, uint64_t from, size_t size, void *stream))                                       \
    X(QUEUES, cuMemcpyDtoDAsync, "_v2", "3.2",                                                    \
      (uint64_t to, uint64_t from, size_t size, void *stream))                                    \
    X(QUEUES, cuMemcpyPeerAsync, "", "4.0",                                                       \
      (uint64_t to, void *there, uint64_t from, void *here, size_t size, void *stream))           \
    X(QUEUES, cuDeviceCanAccessPeer, "", "4.0", (int *can, int device, int peer))                 \
    X(QUEUES, cuCtxEnablePeerAccess, "", "4.0", (void *context, unsigned flags))                  \
    X(QUEUES, cuMemsetD8Async, "", "3.2",                                                         \
      (uint64_t to, unsigned char value, size_t count, void *stream))                             \
    X(QUEUES, cuMemsetD16Async, "", "3.2",                                                        \
      (uint64_t to, unsigned short value, size_t count, void *stream))                            \
    X(QUEUES, cuMemsetD32Async, "", "3.2",                                                        \
      (uint64_t to, unsigned value, size_t count, void *stream))                                  \
    X(QUEUES, cuEventCreate, "", "2.0", (void **event, unsigned flags))                           \
    X(QUEUES, cuEventDestroy, "_v2", "4.0", (void *event))                                        \
    X(QUEUES, cuEventRecord, "", "2.0", (void *event, void *stream))                              \
    X(QUEUES, cuEventSynchronize, "", "2.0", (void *event))                                       \
    X(QUEUES, cuEventQuery, "", "2.0", (void *event))                                             \
    X(QUEUES, cuEventElapsedTime, "", "2.0", (float *milliseconds, void *begin, void *end))       \
    X(QUEUES, cuStreamBeginCapture, "_v2", "10.1", (void *stream, int mode))                      \
    X(QUEUES, cuStreamEndCapture, "", "10.0", (void *stream, void **graph))                       \
    X(QUEUES, cuStreamGetCaptureInfo, "_v2", "11.3",                                              \
      (void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *count)) \
    X(QUEUES, cuGraphInstantiate, "WithFlags", "11.4",                                            \
      (void **executable, void *graph, unsigned long long flags))                                 \
    X(QUEUES, cuGraphExecKernelNodeSetParams, "", "10.1",                                         \
      (void *executable, void *node, const struct rex_cuda_kernel_node *parameters))              \
    X(QUEUES, cuGraphUpload, "", "11.1", (void *executable, void *stream))                        \
    X(QUEUES, cuGraphLaunch, "", "10.0", (void *executable, void *stream))                        \
    X(QUEUES, cuGraphExecDestroy, "", "10.0", (void *executable))                                 \
    X(QUEUES, cuGraphDestroy, "", "10.0", (void *graph))                                          \
    X(QUEUES, cuOccupancyMaxActiveBlocksPerMultiprocessor, "", "6.5",                             \
      (int *blocks, void *function, int threads, size_t dynamic_memory))                          \
    X(ATTRIBUTES, cuLaunchKernelEx, "", "11.8",                                                   \
      (const struct rex_cuda_launch *launch, void *function, void **parameters, void **extra))    \
    X(ATTRIBUTES, cuOccupancyMaxActiveClusters, "", "11.8",                                       \
      (int *clusters, void *function, const struct rex_cuda_launch *launch))                      \
    X(LINKER, cuLinkCreate, "_v2", "6.5",                                                         \
      (unsigned count, int *options, void **values, void **state))                                \
    X(LINKER, cuLinkAddData, "_v2", "6.5",                                                        \
      (void *state, int type, void *data, size_t size, const char *name, unsigned count,          \
       int *options, void **values))                                                              \
    X(LINKER, cuLinkComplete, "", "5.5", (void *state, void **cubin, size_t *size))               \
    X(LINKER, cuLinkDestroy, "", "5.5", (void *state))                                            \
    X(OPTIONAL, cuFuncLoad, "", "12.4", (void *function))                                         \
    X(OPTIONAL, cuMemGetInfo, "_v2", "3.2", (size_t *left, size_t *all))                          \
    X(OPTIONAL, cuDeviceGetUuid, "_v2", "11.4", (void *uuid, int device))                         \
    X(OPTIONAL, cuDeviceGetP2PAttribute, "", "8.0",                                               \
      (int *value, int attribute, int device, int peer))
/* clang-format on */

/* The driver's functions. Each returns 0 or a CUresult. Written before a GPU is reported. */
struct rex_driver {
#define REX_CUDA_FIELD(group, function, suffix, since, parameters) int(*function) parameters;
    REX_CUDA_FUNCTIONS(REX_CUDA_FIELD)
#undef REX_CUDA_FIELD
};
extern struct rex_driver rex_driver;

/* The grid of a launch: teams are the driver's blocks. */
struct rex_grid {
    uint32_t teams[3], threads[3], dynamic_memory;
    uint32_t attributes; /* REX_ATTRIBUTE_ bits; 0: cuLaunchKernel() will do */
    uint32_t cluster[3]; /* blocks of a cluster; 0: no clusters */
};
#define REX_ATTRIBUTE_COOPERATIVE 0x1u
#define REX_ATTRIBUTE_CLUSTER 0x2u

/*
 * Calls a function of the driver: 0, or its result, noted with the function's name for
 * rex_cuda_why(). A call whose result is no error (cuStreamQuery), or whose error nobody is told,
 * is made with rex_driver.function().
 */
#define REX_CUDA(function, ...)                             \
    __extension__({                                         \
        int cuda_result = rex_driver.function(__VA_ARGS__); \
        if (__builtin_expect(cuda_result != 0, 0))          \
            rex_cuda_note(cuda_result, #function);          \
        cuda_result;                                        \
    })

/* RESULT of the driver's function CALL, noted for rex_cuda_why() where it is not 0. */
int rex_cuda_note(int result, const char *call);

/* The result of this thread's last call of the driver that failed; 0: there is none. */
int rex_cuda_noted(void);

/* The error for a call of the driver that gave no memory: REX_ENOMEM, or REX_ECUDA. */
int rex_cuda_memory_error(void);

/*
 * Whether the functions of GROUP can be called: 0, or -1 with rex_cuda_why(): there is no GPU, or
 * the driver is too old. Those of START can be wherever rex_cuda_devices() is above 0.
 */
int rex_cuda_need(enum rex_cuda_group group);

/*
 * Whether there is a GPU and its driver exports NAME, which CUDA SINCE has first: asked for
 * libomptarget, which needs it. If not, rex_cuda_why().
 */
bool rex_cuda_exports(const char *name, const char *since);

/* CUresult and others of cuda.h. */
#define REX_CUDA_INVALID_VALUE 1
#define REX_CUDA_OUT_OF_MEMORY 2
#define REX_CUDA_NOT_INITIALIZED 3
#define REX_CUDA_NO_BINARY_FOR_GPU 209
#define REX_CUDA_INVALID_HANDLE 400
#define REX_CUDA_NOT_READY 600
#define REX_CUDA_ILLEGAL_ADDRESS 700 /* of a kernel: the context is lost, whatever call tells */
#define REX_CUDA_PEER_ACCESS_ALREADY_ENABLED 704
#define REX_CUDA_MULTIPROCESSORS 16
#define REX_CUDA_CAPABILITY_MAJOR 75
#define REX_CUDA_CAPABILITY_MINOR 76
#define REX_CUDA_HAS_COOPERATIVE 95
#define REX_CUDA_HAS_CLUSTERS 120
#define REX_CUDA_COOPERATIVE 2 /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
#define REX_CUDA_CLUSTER 4     /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
#define REX_CUDA_STREAM_NON_BLOCKING 0x1
#define REX_CUDA_EVENT_UNTIMED 0x2 /* CU_EVENT_DISABLE_TIMING */

/*
 * Whether RESULT tells of one call alone, and nothing of the context, which can be used as before.
 * After any other result of a wait the device is lost.
 */
static inline bool rex_cuda_is_of_call(int result)
{
    return result == REX_CUDA_INVALID_VALUE || result == REX_CUDA_OUT_OF_MEMORY ||
           result == REX_CUDA_NOT_INITIALIZED || result == REX_CUDA_NO_BINARY_FOR_GPU ||
           result == REX_CUDA_INVALID_HANDLE;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* Devices beyond these are left to libomptarget. */
#define REX_CUDA_DEVICES_MAX 64

/* Bytes of the names of kernels that may have failed, in a message. */
#define REX_KERNEL_LIST_TEXT 1024

/* Most launch contexts (cuda/launchcontext.h) that are kept idle for one GPU. */
#define REX_IDLE_MOST 256

/*
 * All that librex keeps for one GPU, from one call to the next. Only the file named reads and
 * writes each part. A child of fork has no driver, and uses none of it.
 */
struct rex_device {
    int handle; /* driver.c; written before the GPU is reported */

    /* Under the driver's lock. */
    bool is_held; /* context.c: librex has retained the context, once for all its users */

    /* launchcontext.c; atomic. */
    struct rex_launch_context *idle[REX_IDLE_MOST]; /* NULL: the place is free */
    unsigned ends;                                  /* how often all contexts were ended */

    /* Under the lock of lists (cuda/context.h). */
    struct rex_block *blocks; /* context.c: those that are kept stand in the order of their age */

    /* lost.c: written once, under the lock of lists, and read without a lock after `is_lost`. */
    struct rex_loss {
        bool is_lost;   /* atomic */
        bool is_untold; /* atomic: no call has reported it yet, with the kernels */
        int number;     /* libomptarget's */
        char name[80], why[256], kernels[REX_KERNEL_LIST_TEXT];
    } loss;
};
extern struct rex_device rex_devices[REX_CUDA_DEVICES_MAX];

/*
 * Number of NVIDIA GPUs that this process may use; 0 also where there is no driver: rex_cuda_why()
 * then says why.
 */
int rex_cuda_devices(void);

/*
 * Start the driver, or again if the last start found no GPU: a call failed that may succeed now, as
 * dlopen() does after too many files were open. That may take milliseconds, so it is for a
 * registration, and once for each public call that asks what there is.
 */
void rex_cuda_retry(void);

/* Whether a start would call the driver: it can be opened, and has not been started. */
bool rex_cuda_may_start(void);

/*
 * CHANGE is 1 where something stands that was decided by what rex_cuda_devices() says, as which
 * image of a module is used, and -1 at its end: meanwhile nobody looks again.
 */
void rex_cuda_keep(int change);

/*
 * The lock of what is loaded: libomptarget is bound under it, the driver starts, contexts are
 * activated and released, and images are loaded. A thread may take it again: what it loads may call
 * librex.
 */
void rex_load_lock(void);
void rex_load_unlock(void);

/* Why there is no GPU; where there is one, the last call of this thread that failed, and how. */
const char *rex_cuda_why(void);

/*
 * Whether there is none because the process is a child of fork, and its parent has started the
 * driver, or began to.
 */
bool rex_cuda_forked(void);

/* The driver's file, links followed, in PATH; NULL where it is not open. */
const char *rex_cuda_library(char path[PATH_MAX]);

/* The driver's handle of GPU NUMBER. 0, or -1 where there is no such GPU. */
int rex_cuda_handle(int number, int *device);

/* ATTRIBUTE of GPU NUMBER, a CUdevice_attribute. 0, or another number with rex_cuda_why(). */
int rex_cuda_attribute(int number, int attribute, int *value);

/* Compute capability of device NUMBER as an SM number (90), 0 if it cannot be told. */
unsigned rex_cuda_architecture(int number);

/*
 * The most that any GPU here has: bytes of shared memory of a block, or threads that are resident
 * at once. 0: the driver does not say.
 */
enum rex_gpu_limit { REX_GPU_SHARED_MEMORY, REX_GPU_RESIDENT_THREADS };
uint64_t rex_gpu_most(enum rex_gpu_limit limit);

/* Whether the driver, which returned RESULT, has made something: what it leaves else is nothing. */
static inline bool rex_cuda_has_made(int result, void **made)
{
    if (result != 0)
        *made = NULL;
    return result == 0;
}

/* ---- why there is no GPU: gpu.c -------------------------------------------------------------- */

#define REX_NOGPU_FORKED "a child of fork cannot use a driver that its parent has started"

/* A cause that is no CUresult: libcuda.so.1 cannot be opened. */
#define REX_NOGPU_LIBRARY (-1)
/* The driver lacks a function. */
#define REX_NOGPU_FUNCTION (-2)
/* CUDA_ERROR_NO_DEVICE, also where the driver reports 0 devices. */
#define REX_NOGPU_DEVICE 100

/*
 * Why the driver stopped with RESULT, in TEXT of SIZE bytes: "", or "; " and a sentence. It looks
 * at CUDA_VISIBLE_DEVICES, device files and the kernel module.
 */
void rex_nogpu_explain(int result, char *text, size_t size);

/* Why this process can open no file at all, as EMFILE; 0: it can. */
int rex_nogpu_open_error(void);

/*
 * The kernel module's own words, "NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...", in TEXT.
 * Whether there is one: else TEXT is left alone.
 */
bool rex_kernel_module(char *text, size_t size);

/* The folder that stands before /dev and /proc: "", but for tests. */
extern const char *rex_nogpu_root;

#endif
