/*
 * cuda.c - the CUDA driver, opened at run time.
 *
 * Names and numbers are those of the CUDA Driver API, stable since CUDA 3.2. Nothing else in librex includes or calls it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#define COMPUTE_CAPABILITY_MAJOR 75
#define COMPUTE_CAPABILITY_MINOR 76
#define MOST_DEVICES 64

static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
    int (*cuGetErrorName)(int result, const char **name);
} driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int devices;
static unsigned architectures[MOST_DEVICES];
static char why[256];

static int record(int result, const char *call)
{
    const char *name = NULL;
    if (result != 0 && (driver.cuGetErrorName(result, &name) != 0 || name == NULL))
        name = "unknown error";
    if (result != 0)
        snprintf(why, sizeof why, "%s: %s", call, name);
    return result;
}

/* Every driver call goes through here: 0, or its result with the call and the result's name in `why`. */
#define CUDA(function, ...) record(driver.function(__VA_ARGS__), #function)

static int open_driver(void)
{
    static const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"cuInit", &driver.cuInit},
        {"cuDeviceGetCount", &driver.cuDeviceGetCount},
        {"cuDeviceGet", &driver.cuDeviceGet},
        {"cuDeviceGetAttribute", &driver.cuDeviceGetAttribute},
        {"cuGetErrorName", &driver.cuGetErrorName},
    };
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(why, sizeof why, "there is no CUDA driver (libcuda.so.1)");
        return -1;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (address == NULL) {
            snprintf(why, sizeof why, "the CUDA driver has no %s", functions[i].name);
            return -1;
        }
        memcpy(functions[i].slot, &address, sizeof address);
    }
    return 0;
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
    int count = 0;
    if (open_driver() != 0 || CUDA(cuInit, 0) != 0 || CUDA(cuDeviceGetCount, &count) != 0) {
        rex_log(REX_LOG_DEBUG, "no GPU: %s", why);
        return;
    }
    if (count == 0)
        snprintf(why, sizeof why, "the CUDA driver reports no device");
    devices = count < MOST_DEVICES ? count : MOST_DEVICES;
    for (int i = 0; i < devices; i++)
        architectures[i] = architecture(i);
}

int rex_cuda_devices(void)
{
    pthread_once(&once, start);
    return devices;
}

const char *rex_cuda_why(void)
{
    pthread_once(&once, start);
    return why;
}

unsigned rex_cuda_architecture(int number)
{
    return number >= 0 && number < rex_cuda_devices() ? architectures[number] : 0;
}
