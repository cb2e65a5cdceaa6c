/*
 * driver.c - the CUDA driver, opened at run time.
 *
 * Names and numbers are those of the CUDA Driver API, stable since CUDA 3.2. Nothing else in librex
 * includes or calls it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "cuda/nogpu.h"
#include "cuda/stream.h"

#define COMPUTE_CAPABILITY_MAJOR 75
#define COMPUTE_CAPABILITY_MINOR 76

static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
    int (*cuGetErrorName)(int result, const char **name);
    int (*cuDevicePrimaryCtxGetState)(int device, unsigned *flags, int *active);
    int (*cuDevicePrimaryCtxSetFlags)(int device, unsigned flags);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuDevicePrimaryCtxRelease)(int device);
    int (*cuCtxPushCurrent)(void *context);
    int (*cuCtxPopCurrent)(void **context);
    int (*cuMemHostAlloc)(void **memory, size_t size, unsigned flags);
    int (*cuMemFreeHost)(void *memory);
    int (*cuMemHostRegister)(void *address, size_t size, unsigned flags);
    int (*cuMemHostUnregister)(void *address);
} driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *handle; /* of the driver, once opened; never closed */
static int devices;
static unsigned architectures[REX_CUDA_DEVICES_MAX];
static char absent[1024];      /* why there is no device; written once */
static int broken;             /* although a GPU seems to be there */
static __thread char why[512]; /* the last call of this thread that failed */
static bool started;           /* the driver: it has devices, or cuInit is at work */
/* it was started in a parent: no call of it works here, and some may hang */
static bool forked;

int rex_cuda_record(int result, const char *call)
{
    const char *name = NULL;
    if (result != 0 && (driver.cuGetErrorName(result, &name) != 0 || name == NULL))
        name = "unknown error";
    if (result != 0)
        snprintf(why, sizeof why, "%s: %s", call, name);
    return result;
}

/*
 * Every driver call goes through here: 0, or its result with the call and the result's name in
 * `why`.
 */
#define CUDA(function, ...) rex_cuda_record(driver.function(__VA_ARGS__), #function)

/* CUDA 12.4 is 12040 to the driver. */
static void too_old(const struct rex_cuda_function *function)
{
    int (*get_version)(int *version) = NULL, version = 0;
    void *address = dlsym(handle, "cuDriverGetVersion");
    memcpy(&get_version, &address, sizeof address);
    int length = snprintf(why, sizeof why,
                          "the CUDA driver is too old: it has no %s, which came with CUDA %s",
                          function->name, function->since);
    if (get_version != NULL && get_version(&version) == 0 && version > 0 && length > 0)
        snprintf(why + length, sizeof why - (size_t)length, ", and is one of CUDA %d.%d",
                 version / 1000, version % 1000 / 10);
}

static int find(const struct rex_cuda_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (address == NULL) {
            too_old(&functions[i]);
            return -1;
        }
        memcpy(functions[i].slot, &address, sizeof address);
    }
    return 0;
}

static int find_functions(void)
{
    static const struct rex_cuda_function functions[] = {
        {"cuInit", "2.0", &driver.cuInit},
        {"cuDeviceGetCount", "2.0", &driver.cuDeviceGetCount},
        {"cuDeviceGet", "2.0", &driver.cuDeviceGet},
        {"cuDeviceGetAttribute", "2.0", &driver.cuDeviceGetAttribute},
        {"cuGetErrorName", "6.0", &driver.cuGetErrorName},
        {"cuDevicePrimaryCtxGetState", "7.0", &driver.cuDevicePrimaryCtxGetState},
        {"cuDevicePrimaryCtxRetain", "7.0", &driver.cuDevicePrimaryCtxRetain},
        {"cuCtxPushCurrent_v2", "4.0", &driver.cuCtxPushCurrent},
        {"cuCtxPopCurrent_v2", "4.0", &driver.cuCtxPopCurrent},
        {"cuMemHostAlloc", "2.2", &driver.cuMemHostAlloc},
        {"cuMemFreeHost", "2.0", &driver.cuMemFreeHost},
        {"cuMemHostRegister_v2", "6.5", &driver.cuMemHostRegister},
        {"cuMemHostUnregister", "4.0", &driver.cuMemHostUnregister},
        {"cuDevicePrimaryCtxSetFlags_v2", "11.0", &driver.cuDevicePrimaryCtxSetFlags},
        {"cuDevicePrimaryCtxRelease_v2", "11.0", &driver.cuDevicePrimaryCtxRelease},
    };
    return find(functions, sizeof functions / sizeof *functions);
}

static int open_library(void)
{
    handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *reason = handle == NULL ? dlerror() : NULL;
    if (handle != NULL)
        return 0;
    /*
     * The loader's message begins with the name of what it could not open: another one is a library
     * that the driver needs.
     */
    if (reason == NULL ||
        (strncmp(reason, "libcuda.so.1:", 13) == 0 && strstr(reason, "No such file") != NULL))
        snprintf(why, sizeof why, "there is no CUDA driver (libcuda.so.1)");
    else
        snprintf(why, sizeof why, "the CUDA driver cannot be opened: %s", reason);
    return -1;
}

static unsigned architecture(int number)
{
    int device, major, minor;
    if (CUDA(cuDeviceGet, &device, number) != 0 ||
        CUDA(cuDeviceGetAttribute, &major, COMPUTE_CAPABILITY_MAJOR, device) != 0 ||
        CUDA(cuDeviceGetAttribute, &minor, COMPUTE_CAPABILITY_MINOR, device) != 0)
        return 0;
    return (unsigned)(major * 10 + minor);
}

static void start(void)
{
    int count = 0, result = 0;
    __atomic_store_n(&started, true, __ATOMIC_RELAXED);
    enum rex_nogpu cause = open_library() != 0     ? REX_NOGPU_LIBRARY
                           : find_functions() != 0 ? REX_NOGPU_FUNCTION
                                                   : REX_NOGPU_COUNT;
    if (cause == REX_NOGPU_COUNT &&
        ((result = CUDA(cuInit, 0)) != 0 || (result = CUDA(cuDeviceGetCount, &count)) != 0))
        cause = REX_NOGPU_RESULT;
    if (cause != REX_NOGPU_COUNT || count == 0) {
        snprintf(absent, sizeof absent, "%s",
                 cause == REX_NOGPU_COUNT ? "the CUDA driver reports no device" : why);
        broken = rex_nogpu_explain(cause, result, absent, sizeof absent);
        rex_log(REX_LOG_DEBUG, "no GPU: %s", absent);
        __atomic_store_n(&started, false, __ATOMIC_RELAXED);
        return;
    }
    devices = count < REX_CUDA_DEVICES_MAX ? count : REX_CUDA_DEVICES_MAX;
    for (int i = 0; i < devices; i++)
        architectures[i] = architecture(i);
}

int rex_cuda_find(const struct rex_cuda_function *functions, size_t count)
{
    return rex_cuda_devices() > 0 ? find(functions, count) : -1;
}

static void start_once(void)
{
    if (forked) /* the parent's other thread may have been at it, and never ends */
        return;
    rex_log_hold();
    pthread_once(&once, start);
    rex_log_resume();
}

int rex_cuda_devices(void)
{
    start_once();
    return forked ? 0 : devices;
}

bool rex_cuda_forked(void)
{
    start_once();
    return forked;
}

const char *rex_cuda_why(void)
{
    start_once();
    return forked ? REX_NOGPU_FORKED : absent[0] != '\0' ? absent : why;
}

int rex_cuda_broken(void)
{
    start_once();
    return forked || broken;
}

const char *rex_cuda_library(char path[PATH_MAX])
{
    Dl_info info;
    start_once();
    void *function = handle != NULL ? dlsym(handle, "cuInit") : NULL;
    return function != NULL && dladdr(function, &info) != 0 &&
                   realpath(info.dli_fname, path) != NULL
               ? path
               : NULL;
}

unsigned rex_cuda_architecture(int number)
{
    return number >= 0 && number < rex_cuda_devices() ? architectures[number] : 0;
}

/* ---- primary contexts ------------------------------------------------------------------------ */

static int handle_of(int number, int *device)
{
    return number >= 0 && number < rex_cuda_devices() ? CUDA(cuDeviceGet, device, number) : -1;
}

int rex_cuda_context_state(int number, unsigned *flags, int *active)
{
    int device = 0;
    return handle_of(number, &device) != 0 ||
                   CUDA(cuDevicePrimaryCtxGetState, device, flags, active) != 0
               ? -1
               : 0;
}

int rex_cuda_context_retain(int number, unsigned flags)
{
    int device = 0;
    void *context;
    return handle_of(number, &device) != 0 ||
                   CUDA(cuDevicePrimaryCtxSetFlags, device, flags) != 0 ||
                   CUDA(cuDevicePrimaryCtxRetain, &context, device) != 0
               ? -1
               : 0;
}

int rex_cuda_context_hold(int number, void **context)
{
    int device = 0;
    return handle_of(number, &device) != 0 || CUDA(cuDevicePrimaryCtxRetain, context, device) != 0
               ? -1
               : 0;
}

void rex_cuda_context_release(int number)
{
    int device = 0;
    if (handle_of(number, &device) == 0)
        CUDA(cuDevicePrimaryCtxRelease, device);
}

/* ---- pinned host memory ---------------------------------------------------------------------- */

#define PORTABLE \
    0x1 /* CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTREGISTER_PORTABLE: pinned for every context */

/*
 * The calls below need a current context: the first device's primary one, which the caller has made
 * sure of.
 */
static int enter(void)
{
    void *context;
    int device = 0;
    if (handle_of(0, &device) != 0 || CUDA(cuDevicePrimaryCtxRetain, &context, device) != 0)
        return -1;
    int result = CUDA(cuCtxPushCurrent, context);
    driver.cuDevicePrimaryCtxRelease(device);
    return result == 0 ? 0 : -1;
}

static int leave(int result)
{
    void *context;
    driver.cuCtxPopCurrent(&context);
    return result == 0 ? 0 : -1;
}

int rex_cuda_host_alloc(void **memory, size_t size)
{
    return enter() != 0 ? -1 : leave(CUDA(cuMemHostAlloc, memory, size, PORTABLE));
}

int rex_cuda_host_free(void *memory)
{
    return enter() != 0 ? -1 : leave(CUDA(cuMemFreeHost, memory));
}

int rex_cuda_host_pin(void *address, size_t size)
{
    return enter() != 0 ? -1 : leave(CUDA(cuMemHostRegister, address, size, PORTABLE));
}

int rex_cuda_host_unpin(void *address)
{
    return enter() != 0 ? -1 : leave(CUDA(cuMemHostUnregister, address));
}

/* ---- functions that queues need -------------------------------------------------------------- */

struct rex_stream_driver rex_stream_driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool found;

/* The driver that the parent has started is the parent's. */
static void begin_in_child(void)
{
    forked = forked || __atomic_load_n(&started, __ATOMIC_RELAXED);
    rex_fork_renew(&lock);
}

REX_FORK_RENEWED(30, begin_in_child);

int rex_stream_ready(void)
{
    static const struct rex_cuda_function functions[] = {
#define FUNCTION(function, name, since, parameters) {name, since, &rex_stream_driver.function},
        REX_STREAM_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    /* not needed: older ones load at once */
    static const struct rex_cuda_function load = {"cuFuncLoad", "12.4",
                                                  &rex_stream_driver.cuFuncLoad};
    rex_lock(&lock);
    if (!found && rex_cuda_find(functions, sizeof functions / sizeof *functions) == 0) {
        found = true;
        rex_cuda_find(&load, 1);
    }
    int result = found ? 0 : -1;
    rex_unlock(&lock);
    return result;
}
