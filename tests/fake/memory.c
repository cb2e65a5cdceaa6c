/*
 * memory.c - the device memory of the fake CUDA driver: FAKE_CUDA_MEMORY is its size in MiB; without it there is none.
 *
 * A device address is one of the host's that nobody can read or write: what touches it as if it were the host's memory gets a fault.
 * fake_cuda_memory() says where the fake keeps the bytes, for a test and for its kernels. New memory holds 0xa5 in each byte.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

enum { ALIGNMENT = 512, NEW = 0xa5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *addresses, *kept; /* what device addresses are in, and the bytes */
static size_t total, used;

/* In the order of their addresses. */
static struct block {
    struct block *next;
    size_t offset, size;
    int device;
} *blocks;

static void open_memory(void)
{
    const char *value = getenv("FAKE_CUDA_MEMORY");
    total = value != NULL ? (size_t)strtoul(value, NULL, 10) << 20 : 0;
    if (total == 0)
        return;
    kept = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    /* Nothing else lies beside the addresses: the base of a section may be one outside. */
    char *around = mmap(NULL, 3 * total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    /* A size of 0: the same memory at another place, too. */
    if (kept != MAP_FAILED && around != MAP_FAILED)
        addresses = mremap(kept, 0, total, MREMAP_MAYMOVE | MREMAP_FIXED, around + total);
    if (addresses == NULL || addresses == MAP_FAILED || mprotect(addresses, total, PROT_NONE) != 0)
        total = 0;
}

bool fake_has_memory(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_memory);
    return total > 0;
}

void fake_memory_open(bool open)
{
    if (fake_has_memory())
        mprotect(addresses, total, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/* Globals of images: they lie where the loader has put them. */
static struct {
    const void *module;
    char *address;
    size_t size;
} globals[256];

static void replace_global(const void *old, const char *old_address, const void *module, char *address, size_t size)
{
    size_t i = 0, most = sizeof globals / sizeof *globals;
    while (i < most && (globals[i].module != old || (old_address != NULL && globals[i].address != old_address)))
        i++;
    if (i == most && module != NULL)
        abort();
    if (i < most) {
        globals[i].module = module;
        globals[i].address = address;
        globals[i].size = size;
    }
}

void fake_memory_add_global(void *module, void *address, size_t size)
{
    pthread_mutex_lock(&lock);
    replace_global(module, address, NULL, NULL, 0);
    replace_global(NULL, NULL, module, address, size);
    pthread_mutex_unlock(&lock);
}

void fake_memory_forget_globals(const void *module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (globals[i].module == module)
            globals[i].module = NULL;
    pthread_mutex_unlock(&lock);
}

static void *global_at(uint64_t address, size_t size)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof globals / sizeof *globals && found == NULL; i++)
        if (globals[i].module != NULL && address - (uintptr_t)globals[i].address < globals[i].size &&
            size <= globals[i].size - (address - (uintptr_t)globals[i].address))
            found = globals[i].address + (address - (uintptr_t)globals[i].address);
    return found;
}

static struct block *block_of(uint64_t address)
{
    size_t offset = fake_has_memory() ? (size_t)(address - (uintptr_t)addresses) : total;
    for (struct block *block = blocks; block != NULL && offset < total; block = block->next)
        if (offset - block->offset < block->size)
            return block;
    return NULL;
}

void *fake_memory(uint64_t address, size_t size)
{
    pthread_mutex_lock(&lock);
    const struct block *block = block_of(address);
    size_t offset = (size_t)(address - (uintptr_t)addresses);
    bool fits = block != NULL && size <= block->size - (offset - block->offset);
    void *global = fits ? NULL : global_at(address, size);
    pthread_mutex_unlock(&lock);
    return fits ? kept + offset : global;
}

static bool is_device_address(uint64_t address)
{
    return fake_has_memory() && address - (uintptr_t)addresses < total;
}

void *fake_memory_of_any(uint64_t address, size_t size)
{
    return is_device_address(address) ? fake_memory(address, size) : (void *)(uintptr_t)address;
}

/* For tests and their kernels. */
void *fake_cuda_memory(uint64_t address, size_t size);
void *fake_cuda_memory(uint64_t address, size_t size)
{
    return fake_memory(address, size);
}

/* Bytes that are allocated. */
size_t fake_cuda_allocated(void);
size_t fake_cuda_allocated(void)
{
    pthread_mutex_lock(&lock);
    size_t size = used;
    pthread_mutex_unlock(&lock);
    return size;
}

static size_t end_of(const struct block *block)
{
    return (block->offset + block->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int allocate(uint64_t *address, size_t size)
{
    size_t offset = 0;
    struct block **place = &blocks, *block = malloc(sizeof *block);
    for (; *place != NULL && (*place)->offset - offset < size; place = &(*place)->next)
        offset = end_of(*place);
    if (block == NULL || !fake_has_memory() || size > total || offset > total - size) {
        free(block);
        return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    }
    *block = (struct block){*place, offset, size, fake_device()};
    *place = block;
    used += size;
    memset(kept + offset, NEW, size);
    *address = (uintptr_t)addresses + offset;
    return 0;
}

static int make_block(uint64_t *address, size_t size)
{
    if (size == 0)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    pthread_mutex_lock(&lock);
    int result = allocate(address, size);
    pthread_mutex_unlock(&lock);
    return result;
}

static int free_block(uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct block **place = &blocks, *block = block_of(address);
    bool begins = block != NULL && block->offset == address - (uintptr_t)addresses;
    while (begins && *place != block)
        place = &(*place)->next;
    if (begins) {
        *place = block->next;
        used -= block->size;
        free(block);
    }
    pthread_mutex_unlock(&lock);
    return begins ? 0 : 1;
}

/* ---- pinned memory ---------------------------------------------------------------------------------------------------------------- */

static struct {
    const char *address;
    size_t size;
} pinned[4096];

static bool replace_pinned(const void *old, const void *address, size_t size)
{
    size_t i = 0, most = sizeof pinned / sizeof *pinned;
    pthread_mutex_lock(&lock);
    while (i < most && pinned[i].address != old)
        i++;
    if (i < most) {
        pinned[i].address = address;
        pinned[i].size = size;
    }
    pthread_mutex_unlock(&lock);
    return i < most;
}

/* No more than a GiB: what lies behind memory of the program must not count as pinned. */
int fake_pin(const void *address, size_t size)
{
    bool fits = size <= (size_t)1 << 30;
    return fits && replace_pinned(NULL, address, size) ? 0 : 2; /* CUDA_ERROR_OUT_OF_MEMORY */
}

void fake_unpin(const void *address)
{
    if (address != NULL)
        replace_pinned(address, NULL, 0);
}

bool fake_is_pinned(const void *address)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned && !found; i++)
        found = pinned[i].address != NULL && (uintptr_t)address - (uintptr_t)pinned[i].address < pinned[i].size;
    pthread_mutex_unlock(&lock);
    return found;
}

/* How many ranges are pinned. */
int fake_cuda_pinned(void);
int fake_cuda_pinned(void)
{
    int count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        count += pinned[i].address != NULL;
    pthread_mutex_unlock(&lock);
    return count;
}

bool fake_is_unpinned(const void *address)
{
    return fake_has_memory() && (uintptr_t)address - (uintptr_t)kept >= total && fake_memory((uintptr_t)address, 1) == NULL &&
           !fake_is_pinned(address);
}

bool fake_is_pageable(uint64_t address)
{
    unsigned char resident;
    bool is_beside_device = address - ((uintptr_t)addresses - total) < 3 * total;
    void *page = (void *)(uintptr_t)(address / 4096 * 4096);
    return !is_beside_device && fake_memory(address, 1) == NULL && !fake_is_pinned((void *)(uintptr_t)address) && mincore(page, 1, &resident) == 0;
}

/* ---- the driver's functions ------------------------------------------------------------------------------------------------------- */

FUNCTION(cuMemAlloc_v2, uint64_t *address, size_t size)
{
    *address = UINT64_MAX; /* nothing says that a failing call leaves it alone */
    BREAK_COUNTED("cuMemAlloc");
    return make_block(address, size);
}

FUNCTION(cuMemFree_v2, uint64_t address)
{
    BREAK_COUNTED("cuMemFree");
    fake_finish_all(false);
    return free_block(address);
}

#ifndef FAKE_OLD
FUNCTION(cuMemAllocAsync, uint64_t *address, size_t size, void *stream)
{
    (void)stream;
    BREAK_COUNTED("cuMemAllocAsync");
    return fake_has_memory() ? make_block(address, size) : 801; /* CUDA_ERROR_NOT_SUPPORTED */
}

FUNCTION(cuMemFreeAsync, uint64_t address, void *stream)
{
    BREAK_COUNTED("cuMemFreeAsync");
    fake_finish(stream);
    return free_block(address);
}
#endif

FUNCTION(cuMemGetInfo_v2, size_t *left, size_t *all)
{
    BREAK_COUNTED("cuMemGetInfo");
    *left = (fake_has_memory() ? total : 0) - fake_cuda_allocated();
    *all = total;
    return 0;
}

int fake_device_of(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct block *block = block_of(address);
    int device = block != NULL ? block->device : -1;
    pthread_mutex_unlock(&lock);
    return device;
}

/* All memory is that of device FAKE_CUDA_ORDINAL, if that is set or there is no device memory. */
static int pointer_attribute(void *value, int attribute, uint64_t address)
{
    const char *ordinal = getenv("FAKE_CUDA_ORDINAL");
    int device = fake_device_of(address);
    bool is_pinned = fake_is_pinned((const void *)(uintptr_t)address);
    if (!fake_has_memory())
        *(int *)value = ordinal != NULL ? atoi(ordinal) : 0;
    else if (device < 0 && !is_pinned)
        return 1; /* CUDA_ERROR_INVALID_VALUE: memory of which the driver knows nothing */
    else if (attribute == 2) /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE: of the host, or of a device */
        *(unsigned *)value = device < 0 ? 1 : 2;
    else if (attribute == 3) /* CU_POINTER_ATTRIBUTE_DEVICE_POINTER */
        *(uint64_t *)value = address;
    else if (attribute == 4 && device < 0) /* CU_POINTER_ATTRIBUTE_HOST_POINTER */
        *(uint64_t *)value = address;
    else if (attribute == 8) /* CU_POINTER_ATTRIBUTE_IS_MANAGED, of which there is none */
        *(int *)value = 0;
    else if (attribute == 9) /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
        *(int *)value = ordinal != NULL ? atoi(ordinal) : device < 0 ? 0 : device;
    else
        return 1;
    return 0;
}

FUNCTION(cuPointerGetAttribute, void *value, int attribute, uint64_t address)
{
    BREAK_COUNTED("cuPointerGetAttribute");
    return pointer_attribute(value, attribute, address);
}
