/*
 * driver.h - the CUDA driver, opened at run time: a table of its functions, and the GPUs.
 *
 * Names and numbers are those of the CUDA Driver API. librex calls the driver through this table
 * alone.
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

/*
 * The purpose of a driver function. If a function of REX_CUDA_START is missing, librex uses no GPU.
 * If a function of another purpose is missing, librex can still call the functions of the other
 * purposes.
 */
enum rex_cuda_group {
    /* the start of the driver, and other functions that each use of a GPU needs */
    REX_CUDA_START,
    REX_CUDA_QUEUES,     /* launches, queues and graphs */
    REX_CUDA_ATTRIBUTES, /* launches with attributes */
    REX_CUDA_LINKER,     /* compiling PTX */
    /* various; librex tests the pointer of each function: NULL if the driver lacks the function */
    REX_CUDA_OPTIONAL,
    REX_CUDA_GROUPS
};

/* The layout of CUDA_KERNEL_NODE_PARAMS_v1 in cuda.h. */
struct rex_cuda_kernel_node {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    void **parameters, **extra;
};

/* The layouts of CUlaunchAttribute and CUlaunchConfig in cuda.h. */
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
 * Each line is X(group, function, suffix of the exported name, first CUDA release with the
 * function, (parameters)). A message names the first missing function of a group.
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

/*
 * The driver's functions. Each returns 0 or a CUresult. After rex_cuda_devices() has returned more
 * than 0, the pointers are valid. A pointer is NULL if the driver lacks the function
 * (rex_cuda_need()).
 */
struct rex_driver {
#define REX_CUDA_FIELD(group, function, suffix, since, parameters) int(*function) parameters;
    REX_CUDA_FUNCTIONS(REX_CUDA_FIELD)
#undef REX_CUDA_FIELD
};
extern struct rex_driver rex_driver;

/* The grid of a launch: teams are the driver's blocks. */
struct rex_grid {
    uint32_t teams[3], threads[3], dynamic_memory;
    uint32_t attributes; /* REX_ATTRIBUTE_ bits; 0: cuLaunchKernel() suffices */
    uint32_t cluster[3]; /* blocks of a cluster; 0: no clusters */
};
#define REX_ATTRIBUTE_COOPERATIVE 0x1u
#define REX_ATTRIBUTE_CLUSTER 0x2u

/*
 * Calls a function of the driver and returns its result. Notes a result other than 0, with the
 * function's name, for rex_cuda_why(). Call rex_driver.function() instead if a nonzero result is
 * not an error (cuStreamQuery), or if no message reports the error.
 */
#define REX_CUDA(function, ...)                             \
    __extension__({                                         \
        int cuda_result = rex_driver.function(__VA_ARGS__); \
        if (__builtin_expect(cuda_result != 0, 0))          \
            rex_cuda_note(cuda_result, #function);          \
        cuda_result;                                        \
    })

/*
 * Notes RESULT of the driver's function CALL for rex_cuda_why(). Returns RESULT. A RESULT of 0 is
 * not noted.
 */
int rex_cuda_note(int result, const char *call);

/*
 * Returns the CUresult of the failure that this thread noted last. Returns 0 if the thread noted no
 * failure, or if the cause of the failure was not a call to the driver.
 */
int rex_cuda_noted(void);

/* Returns the error for a failed allocation: REX_ENOMEM if memory ran out, otherwise REX_ECUDA. */
int rex_cuda_memory_error(void);

/*
 * Returns 0 if the functions of GROUP can be called. Returns -1 if there is no GPU, or the driver
 * is too old; rex_cuda_why() gives the reason. If rex_cuda_devices() is above 0, the functions of
 * REX_CUDA_START can be called without this check.
 */
int rex_cuda_need(enum rex_cuda_group group);

/*
 * Returns true if there is a GPU and its driver exports NAME, a function that libomptarget needs.
 * Otherwise rex_cuda_why() gives the reason. SINCE is the first release of CUDA with this function.
 */
bool rex_cuda_exports(const char *name, const char *since);

/* Values of CUresult and of other enums in cuda.h. */
#define REX_CUDA_INVALID_VALUE 1
#define REX_CUDA_OUT_OF_MEMORY 2
#define REX_CUDA_NOT_INITIALIZED 3
#define REX_CUDA_NO_BINARY_FOR_GPU 209
#define REX_CUDA_INVALID_HANDLE 400
#define REX_CUDA_NOT_READY 600
#define REX_CUDA_ILLEGAL_ADDRESS 700 /* if any call returns this error, the context is lost */
#define REX_CUDA_LAUNCH_OUT_OF_RESOURCES 701
#define REX_CUDA_PEER_ACCESS_ALREADY_ENABLED 704
#define REX_CUDA_COOPERATIVE_LAUNCH_TOO_LARGE 720
#define REX_CUDA_INVALID_CLUSTER_SIZE 912
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
 * Returns true if RESULT is an error of a single call, after which the context can still be used.
 * If a wait or a launch fails with any other error, the device is lost.
 */
static inline bool rex_cuda_is_of_call(int result)
{
    return result == REX_CUDA_INVALID_VALUE || result == REX_CUDA_OUT_OF_MEMORY ||
           result == REX_CUDA_NOT_INITIALIZED || result == REX_CUDA_NO_BINARY_FOR_GPU ||
           result == REX_CUDA_INVALID_HANDLE || result == REX_CUDA_LAUNCH_OUT_OF_RESOURCES ||
           result == REX_CUDA_COOPERATIVE_LAUNCH_TOO_LARGE ||
           result == REX_CUDA_INVALID_CLUSTER_SIZE;
}

/* ---- the GPUs -------------------------------------------------------------------------------- */

/* Maximum number of GPUs that librex uses. Further GPUs are left to libomptarget. */
#define REX_CUDA_DEVICES_MAX 64

/* Maximum bytes in a message for the names of kernels that may have failed. */
#define REX_KERNEL_LIST_TEXT 1024

/* Maximum number of idle launch contexts (cuda/launchcontext.h) of one GPU. */
#define REX_IDLE_MOST 256

/*
 * The state of one GPU. The comment of each field, or group of fields, names the only file that
 * reads or writes the field or the group. A child of fork cannot use the driver, so in a child only
 * `loss` is valid.
 */
struct rex_device {
    int handle; /* driver.c; written before the GPU is reported */

    /*
     * context.c, under rex_load_lock(): librex has retained the GPU's context. All calls that keep
     * contexts share this one reference (rex_contexts_are_kept()).
     */
    bool is_held;

    /* launchcontext.c; atomic. */
    struct rex_launch_context *idle[REX_IDLE_MOST]; /* NULL: the element is free */
    unsigned ends; /* number of times that all launch contexts of the GPU were ended */

    /* Guarded by rex_lists_lock() (cuda/context.h). */
    struct rex_block *blocks; /* context.c: blocks in use, and kept blocks, the newest first */

    /*
     * lost.c: written once, under rex_lists_lock(), except for `is_untold`. A thread that finds
     * `is_lost` set reads the fields without the lock.
     */
    struct rex_loss {
        bool is_lost;   /* atomic */
        bool is_untold; /* atomic: no call has reported the loss and `kernels` yet */
        int number;     /* libomptarget's number of the device */
        char name[80], why[256], kernels[REX_KERNEL_LIST_TEXT];
    } loss;
};
extern struct rex_device rex_devices[REX_CUDA_DEVICES_MAX];

/*
 * Returns the number of NVIDIA GPUs that this process may use. The first call starts the driver. If
 * the number is 0, rex_cuda_why() gives the reason.
 */
int rex_cuda_devices(void);

/*
 * Starts the driver. If the last start found no GPU, starts the driver again, because a call that
 * failed in the last start may succeed now. For example, dlopen() fails while too many files are
 * open. A start may take milliseconds. So call this function for a registration, for a bind of
 * libomptarget, and for a public call that reports devices, but not for each launch.
 */
void rex_cuda_retry(void);

/* Returns true if the driver can be opened and rex_cuda_retry() would start the driver. */
bool rex_cuda_may_start(void);

/*
 * Counts choices that were made from the result of rex_cuda_devices(), such as the choice of a
 * module's image. CHANGE is 1 when a choice is made, and -1 when the choice no longer matters.
 * While the count is above 0, the driver is not started again.
 */
void rex_cuda_keep(int change);

/*
 * The loader lock. A thread takes the lock to bind libomptarget, start the driver, activate
 * contexts or load images. A thread that has the lock can take it again, because a library that is
 * being loaded may call librex.
 */
void rex_load_lock(void);
void rex_load_unlock(void);

/*
 * If there is no GPU, returns the reason. If there is a GPU, returns the name and the error of the
 * call to the driver that this thread noted last.
 */
const char *rex_cuda_why(void);

/*
 * Returns true if this process is a child of fork whose parent had started the driver, or was
 * starting the driver. Such a child can use no GPU.
 */
bool rex_cuda_forked(void);

/*
 * Writes the path of the driver's file to PATH, with links resolved, and returns PATH. Returns NULL
 * if the driver is not open.
 */
const char *rex_cuda_library(char path[PATH_MAX]);

/* Writes the driver's handle of GPU NUMBER to DEVICE. Returns 0, or -1 if there is no such GPU. */
int rex_cuda_handle(int number, int *device);

/*
 * Writes to VALUE the value of ATTRIBUTE of GPU NUMBER. ATTRIBUTE is a CUdevice_attribute. Returns
 * -1 if there is no such GPU, otherwise 0 or a CUresult. rex_cuda_why() gives the reason of a
 * CUresult.
 */
int rex_cuda_attribute(int number, int attribute, int *value);

/* Returns the compute capability of GPU NUMBER as an SM number (90), or 0 if it is unknown. */
unsigned rex_cuda_architecture(int number);

/*
 * Returns the maximum of LIMIT over all GPUs: bytes of shared memory of a block, or number of
 * resident threads. Returns 0 if the driver does not report the value.
 */
enum rex_gpu_limit { REX_GPU_SHARED_MEMORY, REX_GPU_RESIDENT_THREADS };
uint64_t rex_gpu_most(enum rex_gpu_limit limit);

/*
 * Returns true if RESULT is 0. Otherwise sets *MADE to NULL, because a call that fails may have
 * written a value to *MADE.
 */
static inline bool rex_cuda_has_made(int result, void **made)
{
    if (result != 0)
        *made = NULL;
    return result == 0;
}

/* ---- why there is no GPU: gpu.c -------------------------------------------------------------- */

#define REX_NOGPU_FORKED "a child of fork cannot use a driver that its parent has started"

/* A cause that is not a CUresult: libcuda.so.1 cannot be opened. */
#define REX_NOGPU_LIBRARY (-1)
/* A cause that is not a CUresult: the driver lacks a function. */
#define REX_NOGPU_FUNCTION (-2)
/* CUDA_ERROR_NO_DEVICE, also used if the driver reports 0 devices. */
#define REX_NOGPU_DEVICE 100

/*
 * RESULT is the error with which a start of the driver failed. Writes the cause of the error to
 * TEXT, which has SIZE bytes. The text is "; " and the cause, or "" if the cause is unknown. Reads
 * CUDA_VISIBLE_DEVICES and the kernel module's files, and opens device files.
 */
void rex_nogpu_explain(int result, char *text, size_t size);

/*
 * Opens a file as a test. Returns EMFILE or ENFILE if the open fails with this error, otherwise 0.
 */
int rex_nogpu_open_error(void);

/*
 * Writes the version of the driver's loaded kernel module to TEXT, which has SIZE bytes. Example:
 * "NVIDIA UNIX x86_64 Kernel Module 580.95.05 ...". Returns false, and leaves TEXT unchanged, if no
 * kernel module is loaded.
 */
bool rex_kernel_module(char *text, size_t size);

/* Prefix of /dev, /proc and /sys: "" except in tests. */
extern const char *rex_nogpu_root;

#endif
