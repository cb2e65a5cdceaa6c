/*
 * device.c - the NVIDIA GPUs, and which of libomptarget's devices they are.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "error.h"
#include "lost.h"
#include "memory.h"
#include "registration.h"
#include "rex/info.h"
#include "runtime.h"
#include "stream.h"

/* ---- what the driver says ------------------------------------------------------------------------------------------------ */

/* CUdevice_attribute of cuda.h. */
#define MOST_THREADS_PER_BLOCK 1
#define MULTIPROCESSORS 16
#define CAPABILITY_MAJOR 75
#define CAPABILITY_MINOR 76
#define MOST_SHARED_MEMORY 97 /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */

struct driver {
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
    int (*cuDeviceGetName)(char *name, int size, int device);
    int (*cuDeviceTotalMem)(size_t *bytes, int device);
    int (*cuDriverGetVersion)(int *version);
};

static int find(struct driver *driver)
{
    const struct rex_cuda_function functions[] = {
        {"cuDeviceGet", "2.0", &driver->cuDeviceGet},
        {"cuDeviceGetAttribute", "2.0", &driver->cuDeviceGetAttribute},
        {"cuDeviceGetName", "2.0", &driver->cuDeviceGetName},
        {"cuDeviceTotalMem_v2", "3.2", &driver->cuDeviceTotalMem},
        {"cuDriverGetVersion", "2.2", &driver->cuDriverGetVersion},
    };
    return rex_cuda_find(functions, sizeof functions / sizeof *functions);
}

#define CUDA(function, ...) rex_cuda_record(driver->function(__VA_ARGS__), #function)

/* Raises MOST to the most shared memory that a block can have on GPU NUMBER, in bytes. */
static int ask_shared_memory(const struct driver *driver, int number, uint64_t *most)
{
    int device, shared = 0;
    if (CUDA(cuDeviceGet, &device, number) != 0 || CUDA(cuDeviceGetAttribute, &shared, MOST_SHARED_MEMORY, device) != 0)
        return -1;
    *most = (uint64_t)shared > *most ? (uint64_t)shared : *most;
    return 0;
}

static int describe(const struct driver *driver, int number, struct rex_gpu *gpu)
{
    const struct {
        int attribute;
        int32_t *value;
    } asked[] = {
        {CAPABILITY_MAJOR, &gpu->capability_major},
        {CAPABILITY_MINOR, &gpu->capability_minor},
        {MULTIPROCESSORS, &gpu->multiprocessors},
        {MOST_THREADS_PER_BLOCK, &gpu->threads_per_block},
    };
    int device = 0;
    size_t memory = 0;
    if (CUDA(cuDeviceGet, &device, number) != 0 || CUDA(cuDeviceGetName, gpu->name, (int)sizeof gpu->name - 1, device) != 0 ||
        CUDA(cuDeviceTotalMem, &memory, device) != 0 || CUDA(cuDriverGetVersion, &gpu->driver) != 0 ||
        ask_shared_memory(driver, number, &gpu->shared_memory) != 0)
        return -1;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (CUDA(cuDeviceGetAttribute, asked[i].value, asked[i].attribute, device) != 0)
            return -1;
    gpu->memory = memory;
    return 0;
}

/* Having no GPU is no failure: nothing is logged. */
static int no_gpu(void)
{
    char message[REX_MESSAGE_MAX];
    snprintf(message, sizeof message, "no NVIDIA GPU can be used: %s", rex_cuda_why());
    return rex_fail_again(rex_cuda_forked() ? REX_EFORK : REX_EDEVICE, message);
}

int rex_gpu_count(void)
{
    int count = rex_cuda_devices();
    if (count == 0)
        no_gpu();
    return count;
}

int rex_gpu_get(int number, struct rex_gpu *gpu, size_t size)
{
    struct rex_gpu made = {.driver = 0};
    struct driver driver;
    if (gpu == NULL || size == 0 || size > sizeof made)
        return rex_fail(REX_EINVAL, "rex_gpu_get: %s", gpu == NULL ? "there is no place for the GPU" : "a struct rex_gpu of another size");
    if (rex_cuda_devices() == 0)
        return no_gpu();
    if (number < 0 || number >= rex_cuda_devices())
        return rex_fail(REX_EDEVICE, "GPU %d: there are %d GPUs", number, rex_cuda_devices());
    if (find(&driver) != 0 || describe(&driver, number, &made) != 0)
        return rex_fail(REX_ECUDA, "GPU %d: %s", number, rex_cuda_why());
    memcpy(gpu, &made, size);
    return REX_OK;
}

uint64_t rex_gpu_most_shared_memory(void)
{
    static uint64_t known;
    uint64_t most = __atomic_load_n(&known, __ATOMIC_RELAXED);
    struct driver driver;
    if (most > 0 || rex_cuda_devices() == 0 || find(&driver) != 0)
        return most;
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (ask_shared_memory(&driver, i, &most) != 0)
            return 0;
    __atomic_store_n(&known, most, __ATOMIC_RELAXED);
    return most;
}

/* ---- libomptarget's numbers ----------------------------------------------------------------------------------------------- */

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

/*
 * libomptarget's numbers are those of all plugins together, in the order in which they were first needed, so the driver is asked whose
 * memory it is that libomptarget allocates there.
 */
int rex_device_ordinal(const char *who, int number, int *ordinal)
{
    const struct rex_omp *omp = rex_runtime_omp();
    *ordinal = -1;
    if (rex_runtime_disabled() || number == rex_device_count() || rex_cuda_devices() == 0)
        return REX_OK;
    if (rex_device_lost(number, who) != REX_OK)
        return REX_ECUDA;
    if (rex_stream_ready() != 0)
        return rex_fail(REX_EUNSUPPORTED, "%s: %s", who, rex_cuda_why());
    rex_device_used(rex_runtime());
    void *memory = omp->alloc(sizeof *ordinal, number);
    if (memory == NULL)
        return rex_fail(REX_ENOMEM, "%s: device %d has no memory", who, number);
    int result = REX_STREAM(cuPointerGetAttribute, ordinal, POINTER_DEVICE_ORDINAL, (uint64_t)(uintptr_t)memory);
    omp->free(memory, number);
    if (result == REX_CUDA_INVALID_VALUE)
        *ordinal = -1; /* another plugin's device */
    return result == 0 || result == REX_CUDA_INVALID_VALUE ? REX_OK : rex_fail(REX_ECUDA, "%s: %s", who, rex_cuda_why());
}

int rex_device_gpu(int device)
{
    int number = 0, ordinal = -1;
    if (rex_device_count() == 0)
        return rex_fail(REX_EDEVICE, "rex_device_gpu: libomptarget has no device before a module is registered");
    int result = rex_memory_device(device, &number);
    if (result == REX_OK)
        result = rex_device_ordinal("rex_device_gpu", number, &ordinal);
    if (result != REX_OK)
        return result;
    return ordinal >= 0 ? ordinal : rex_fail_again(REX_ENODEVICE, "rex_device_gpu: the device is no NVIDIA GPU");
}

/* ---- trouble --------------------------------------------------------------------------------------------------------------- */

int rex_device_trouble(const struct rex_release *release, char *why, size_t size)
{
    void *address, *linked;
    const struct rex_cuda_function needed = {release->driver_function, release->driver_since, &address};
    if (rex_cuda_devices() == 0)
        return 0;
    if (release->driver_function != NULL && rex_cuda_find(&needed, 1) != 0) {
        snprintf(why, size, "LLVM %d cannot use the GPU: %s", release->number, rex_cuda_why());
        return 1;
    }
    /* All releases open the development name. */
    linked = dlopen("libcuda.so", RTLD_LAZY | RTLD_LOCAL);
    if (linked == NULL) {
        snprintf(why, size, "libomptarget opens the CUDA driver as libcuda.so, and there is libcuda.so.1 alone: a link is missing");
        return 1;
    }
    dlclose(linked);
    return 0;
}
