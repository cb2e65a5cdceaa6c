/*
 * gpu.c - the NVIDIA GPUs, as the driver describes them: rex_gpu_count() and rex_gpu_get() of
 * rex/device.h, and the most that any of them has.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cuda/context.h"
#include "cuda/nogpu.h"
#include "rex/device.h"
#include "rex/inspect.h"

/* CUdevice_attribute of cuda.h. */
#define NONE 0
#define MOST_THREADS_PER_BLOCK 1
#define MULTIPROCESSORS 16
#define PCI_BUS 33
#define PCI_SLOT 34
#define MOST_THREADS_PER_MULTIPROCESSOR 39
#define PCI_DOMAIN 50
#define MOST_SHARED_MEMORY 97 /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
/* CUdevice_P2PAttribute. */
#define PEER_ACCESS 2
#define PEER_ATOMICS 3

/* ---- what a driver may not say, and nobody has to know --------------------------------------- */

/* In a context that is there: none is made for the question. */
static uint64_t free_memory(int number)
{
    void *context;
    size_t left = 0, all = 0;
    if (rex_driver.cuMemGetInfo == NULL || !rex_context_is_active(number) ||
        rex_context_retain(number, &context) != 0)
        return 0;
    int entered = rex_context_enter(context);
    if (entered < 0 || rex_driver.cuMemGetInfo(&left, &all) != 0)
        left = 0;
    rex_context_leave(entered);
    rex_context_drop(number);
    return left;
}

/* A part of a GPU that its administrator has divided has a UUID of its own. */
static void describe_uuid(struct rex_gpu *gpu, int device)
{
    unsigned char bytes[16];
    if (rex_driver.cuDeviceGetUuid == NULL || rex_driver.cuDeviceGetUuid(bytes, device) != 0)
        return;
    size_t length = (size_t)snprintf(gpu->uuid, sizeof gpu->uuid, "%s",
                                     strstr(gpu->name, " MIG ") != NULL ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof bytes; i++)
        length +=
            (size_t)snprintf(gpu->uuid + length, sizeof gpu->uuid - length, "%s%02x",
                             i == 0 || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "", bytes[i]);
}

static void describe_place(struct rex_gpu *gpu, int number)
{
    int domain, bus, slot, node;
    char path[PATH_MAX];
    gpu->numa_node = -1;
    if (rex_cuda_attribute(number, PCI_DOMAIN, &domain) != 0 ||
        rex_cuda_attribute(number, PCI_BUS, &bus) != 0 ||
        rex_cuda_attribute(number, PCI_SLOT, &slot) != 0)
        return;
    snprintf(gpu->pci, sizeof gpu->pci, "%04x:%02x:%02x.0", (unsigned)domain & 0xffff,
             (unsigned)bus & 0xff, (unsigned)slot & 0x1f);
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node", rex_nogpu_root, gpu->pci);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fscanf(file, "%d", &node) == 1 && node >= 0)
        gpu->numa_node = node;
    fclose(file);
}

static uint64_t is_linked(int attribute, int device, int peer)
{
    int value = 0;
    return rex_driver.cuDeviceGetP2PAttribute(&value, attribute, device, peer) == 0 && value != 0;
}

static void describe_links(struct rex_gpu *gpu, int number, int device)
{
    int count = rex_driver.cuDeviceGetP2PAttribute != NULL ? rex_cuda_devices() : 0;
    for (int i = 0, peer; i < count; i++)
        if (i != number && rex_cuda_handle(i, &peer) == 0) {
            gpu->peers |= is_linked(PEER_ACCESS, device, peer) << i;
            gpu->atomic_peers |= is_linked(PEER_ATOMICS, device, peer) << i;
        }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int describe(int number, struct rex_gpu *gpu)
{
    int device, shared;
    size_t memory;
    const struct {
        int attribute;
        int32_t *value;
    } asked[] = {
        {REX_CUDA_CAPABILITY_MAJOR, &gpu->capability_major},
        {REX_CUDA_CAPABILITY_MINOR, &gpu->capability_minor},
        {MULTIPROCESSORS, &gpu->multiprocessors},
        {MOST_THREADS_PER_BLOCK, &gpu->threads_per_block},
        {MOST_SHARED_MEMORY, &shared},
    };
    if (rex_cuda_handle(number, &device) != 0 ||
        REX_CUDA(cuDeviceGetName, gpu->name, (int)sizeof gpu->name - 1, device) != 0 ||
        REX_CUDA(cuDeviceTotalMem, &memory, device) != 0 ||
        REX_CUDA(cuDriverGetVersion, &gpu->driver) != 0)
        return -1;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (rex_cuda_attribute(number, asked[i].attribute, asked[i].value) != 0)
            return -1;
    gpu->memory = memory;
    gpu->free_memory = free_memory(number);
    gpu->shared_memory = (uint64_t)shared;
    describe_uuid(gpu, device);
    describe_place(gpu, number);
    describe_links(gpu, number, device);
    return 0;
}

int rex_gpu_count(void)
{
    rex_cuda_retry();
    return rex_cuda_devices();
}

int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number)
{
    struct rex_gpu made = {.driver = 0};
    if (gpu == NULL || size == 0 || size > sizeof made)
        return rex_fail(REX_EINVAL, "rex_gpu_get: %s",
                        gpu == NULL ? "there is no place for the GPU"
                                    : "a struct rex_gpu of another size");
    rex_cuda_retry();
    if (rex_cuda_devices() == 0) { /* which is no failure: nothing is logged */
        char message[REX_MESSAGE_MAX];
        snprintf(message, sizeof message, "no NVIDIA GPU can be used: %s", rex_cuda_why());
        rex_escape(message, sizeof message);
        return rex_fail_again(rex_cuda_forked() ? REX_EFORK : REX_EDEVICE, message);
    }
    if (number < 0 || number >= rex_cuda_devices())
        return rex_fail(REX_EDEVICE, "GPU %d: there are %d GPUs", number, rex_cuda_devices());
    if (describe(number, &made) != 0)
        return rex_fail(REX_ECUDA, "GPU %d: %s", number, rex_cuda_why());
    memcpy(gpu, &made, size);
    return REX_OK;
}

/* The largest product of the attributes of a limit, asked once. */
uint64_t rex_gpu_most(enum rex_gpu_limit limit)
{
    static const int factors[][2] = {
        [REX_GPU_SHARED_MEMORY] = {MOST_SHARED_MEMORY, NONE},
        [REX_GPU_RESIDENT_THREADS] = {MULTIPROCESSORS, MOST_THREADS_PER_MULTIPROCESSOR}};
    static uint64_t known[2];
    /* Relaxed: the number stands for itself; whoever misses it asks the driver again. */
    uint64_t most = __atomic_load_n(&known[limit], __ATOMIC_RELAXED);
    if (most > 0)
        return most;
    for (int i = 0; i < rex_cuda_devices(); i++) {
        int first = 0, second = 1;
        if (rex_cuda_attribute(i, factors[limit][0], &first) != 0 ||
            (factors[limit][1] != NONE && rex_cuda_attribute(i, factors[limit][1], &second) != 0))
            return 0;
        uint64_t product = (uint64_t)first * (uint64_t)second;
        most = product > most ? product : most;
    }
    /* Relaxed: as above: all threads find the same number. */
    __atomic_store_n(&known[limit], most, __ATOMIC_RELAXED);
    return most;
}
