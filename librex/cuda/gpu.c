/*
 * gpu.c - the NVIDIA GPUs, as the driver describes them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "cuda/driver.h"
#include "rex/device.h"

/* CUdevice_attribute of cuda.h. */
#define MOST_THREADS_PER_BLOCK 1
#define MULTIPROCESSORS 16
#define MOST_SHARED_MEMORY 97 /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */

/* Raises MOST to the most shared memory that a block can have on GPU NUMBER, in bytes. */
static int ask_shared_memory(int number, uint64_t *most)
{
    int device, shared = 0;
    if (REX_CUDA(cuDeviceGet, &device, number) != 0 ||
        REX_CUDA(cuDeviceGetAttribute, &shared, MOST_SHARED_MEMORY, device) != 0)
        return -1;
    *most = (uint64_t)shared > *most ? (uint64_t)shared : *most;
    return 0;
}

static int describe(int number, struct rex_gpu *gpu)
{
    const struct {
        int attribute;
        int32_t *value;
    } asked[] = {
        {REX_CUDA_CAPABILITY_MAJOR, &gpu->capability_major},
        {REX_CUDA_CAPABILITY_MINOR, &gpu->capability_minor},
        {MULTIPROCESSORS, &gpu->multiprocessors},
        {MOST_THREADS_PER_BLOCK, &gpu->threads_per_block},
    };
    int device = 0;
    size_t memory = 0;
    if (REX_CUDA(cuDeviceGet, &device, number) != 0 ||
        REX_CUDA(cuDeviceGetName, gpu->name, (int)sizeof gpu->name - 1, device) != 0 ||
        REX_CUDA(cuDeviceTotalMem, &memory, device) != 0 ||
        REX_CUDA(cuDriverGetVersion, &gpu->driver) != 0 ||
        ask_shared_memory(number, &gpu->shared_memory) != 0)
        return -1;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (REX_CUDA(cuDeviceGetAttribute, asked[i].value, asked[i].attribute, device) != 0)
            return -1;
    gpu->memory = memory;
    return 0;
}

/* Having no GPU is no failure: nothing is logged. */
static int no_gpu(void)
{
    char message[REX_MESSAGE_MAX];
    snprintf(message, sizeof message, "no NVIDIA GPU can be used: %s", rex_cuda_why());
    rex_escape(message, sizeof message);
    return rex_fail_again(rex_cuda_forked() ? REX_EFORK : REX_EDEVICE, message);
}

int rex_gpu_count(void)
{
    rex_cuda_retry();
    int count = rex_cuda_devices();
    if (count == 0)
        no_gpu();
    return count;
}

int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number)
{
    struct rex_gpu made = {.driver = 0};
    if (gpu == NULL || size == 0 || size > sizeof made)
        return rex_fail(REX_EINVAL, "rex_gpu_get: %s",
                        gpu == NULL ? "there is no place for the GPU"
                                    : "a struct rex_gpu of another size");
    rex_cuda_retry();
    if (rex_cuda_devices() == 0)
        return no_gpu();
    if (number < 0 || number >= rex_cuda_devices())
        return rex_fail(REX_EDEVICE, "GPU %d: there are %d GPUs", number, rex_cuda_devices());
    if (describe(number, &made) != 0)
        return rex_fail(REX_ECUDA, "GPU %d: %s", number, rex_cuda_why());
    memcpy(gpu, &made, size);
    return REX_OK;
}

uint64_t rex_gpu_most_shared_memory(void)
{
    static uint64_t known;
    /* Relaxed: the number stands for itself; whoever misses it asks the driver again. */
    uint64_t most = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (most > 0 || rex_cuda_devices() == 0)
        return most;
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (ask_shared_memory(i, &most) != 0)
            return 0;
    /* Relaxed: as above: all threads find the same number. */
    __atomic_store_n(&known, most, __ATOMIC_RELAXED);
    return most;
}
