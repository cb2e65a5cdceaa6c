/*
 * gpu.c - the NVIDIA GPUs, as the driver describes them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cuda/driver.h"
#include "rex/info.h"

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
    if (CUDA(cuDeviceGet, &device, number) != 0 ||
        CUDA(cuDeviceGetAttribute, &shared, MOST_SHARED_MEMORY, device) != 0)
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
    if (CUDA(cuDeviceGet, &device, number) != 0 ||
        CUDA(cuDeviceGetName, gpu->name, (int)sizeof gpu->name - 1, device) != 0 ||
        CUDA(cuDeviceTotalMem, &memory, device) != 0 ||
        CUDA(cuDriverGetVersion, &gpu->driver) != 0 ||
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
        return rex_fail(REX_EINVAL, "rex_gpu_get: %s",
                        gpu == NULL ? "there is no place for the GPU"
                                    : "a struct rex_gpu of another size");
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
