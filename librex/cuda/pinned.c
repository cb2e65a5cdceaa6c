/*
 * pinned.c - pins host memory, and finds out whether host memory is pageable.
 *
 * On an H100 copies of pinned memory run at 47 GB/s, and copies of memory from malloc() at 9 GB/s.
 * If there is no GPU, the functions succeed, and the memory stays pageable.
 *
 * Implements rex_host_alloc(), rex_host_free(), rex_host_register() and rex_host_unregister() of
 * rex/device.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/pinned.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/process.h"
#include "cuda/deferred.h"
#include "cuda/launchcontext.h"
#include "rex/device.h"

struct range {
    struct range *next;
    uintptr_t begin;
    size_t size;
    bool ours;    /* rex_host_alloc() made it */
    bool drivers; /* true: the driver pins the range; false: there was no GPU */
    int home;     /* number of the GPU in whose context the range is pinned */
    bool busy;    /* a thread is pinning or unpinning the range; no other thread may do so */
};

/* guarded by rex_lists_lock(); without the lock, only compared with NULL */
static struct range *ranges;

/* In a child of fork() no range is busy: the threads that pin or unpin memory are in the parent. */
static void forget_busy_ranges(void)
{
    for (struct range *range = ranges; range != NULL; range = range->next)
        range->busy = false;
}

REX_FORK_WATCHED(98, NULL, NULL, forget_busy_ranges);

/* ---- the list -------------------------------------------------------------------------------- */

/*
 * Returns a range that overlaps SIZE bytes at BEGIN, or NULL. Ignores a range that rex_host_free()
 * is freeing, because other memory may already have the addresses of that range.
 */
static const struct range *find_overlap(uintptr_t begin, size_t size)
{
    const struct range *range = ranges;
    while (range != NULL && (begin >= range->begin + range->size || range->begin >= begin + size ||
                             (range->ours && range->busy)))
        range = range->next;
    return range;
}

/*
 * Returns the range that begins at ADDRESS. If OURS is true, the range must come from
 * rex_host_alloc(); if OURS is false, it must not. Marks the range as busy: only the caller may
 * then unpin the range. Returns NULL if there is no such range, or if the range is busy already.
 */
static struct range *take_range(const void *address, bool ours)
{
    rex_lists_lock();
    struct range *range = ranges;
    while (range != NULL &&
           (range->begin != (uintptr_t)address || range->ours != ours || range->busy))
        range = range->next;
    if (range != NULL)
        range->busy = true;
    rex_lists_unlock();
    return range;
}

/*
 * Marks RANGE as no longer busy. If PINNED is false, removes RANGE from the list and frees RANGE.
 */
static void give_range(struct range *range, bool pinned)
{
    struct range **at = &ranges;
    rex_lists_lock();
    REX_ASSERT(range->busy);
    range->busy = false;
    if (!pinned) {
        while (*at != range) {
            REX_ASSERT(*at != NULL);
            at = &(*at)->next;
        }
        __atomic_store_n(at, range->next, __ATOMIC_RELEASE);
    }
    rex_lists_unlock();
    if (!pinned)
        free(range);
}

bool rex_is_pinned_whole(const void *address, size_t size)
{
    uintptr_t begin = (uintptr_t)address;
    if (!rex_is_any_pinned())
        return false;
    rex_lists_lock();
    const struct range *range = find_overlap(begin, size);
    bool pinned = range != NULL && range->drivers && begin >= range->begin &&
                  size <= range->size - (begin - range->begin);
    rex_lists_unlock();
    return pinned;
}

bool rex_is_pinned(const void *address)
{
    return rex_is_pinned_whole(address, 1);
}

bool rex_is_any_pinned(void)
{
    return __atomic_load_n(&ranges, __ATOMIC_ACQUIRE) != NULL;
}

static struct range *new_range(const void *address, size_t size, bool ours)
{
    struct range *range = malloc(sizeof *range);
    if (range == NULL) {
        rex_fail_memory(sizeof *range, "a pinned range");
        return NULL;
    }
    *range = (struct range){
        .begin = (uintptr_t)address, .size = size, .ours = ours, .drivers = rex_cuda_devices() > 0};
    return range;
}

/* ---- pinning and unpinning ------------------------------------------------------------------- */

/* CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTREGISTER_PORTABLE: pin memory for all contexts. */
#define PORTABLE 0x1

/*
 * Pins RANGE if PINS is true, and unpins RANGE if PINS is false. The driver call is made in the
 * context of GPU number `home` of RANGE; rex_context_hold() keeps this context active. Returns 0,
 * or nonzero on failure; rex_cuda_why() gives the reason.
 */
static int call_driver_on_range(struct range *range, bool pins)
{
    void *context, *memory = (void *)range->begin;
    int result;
    /*
     * RANGE is busy, or it is new: it waits for memory from cuMemHostAlloc(), and is not in the
     * list yet. In both cases no other thread can unpin RANGE.
     */
    REX_ASSERT(range->drivers && (range->busy || memory == NULL));
    if (rex_context_retain(range->home, &context) != 0)
        return -1;
    int entered = rex_context_enter(context);
    if (entered < 0)
        result = -1;
    else if (pins && range->ours)
        result = REX_CUDA(cuMemHostAlloc, &memory, range->size, PORTABLE);
    else if (pins)
        result = REX_CUDA(cuMemHostRegister, memory, range->size, PORTABLE);
    else if (range->ours)
        result = REX_CUDA(cuMemFreeHost, memory);
    else
        result = REX_CUDA(cuMemHostUnregister, memory);
    rex_context_leave(entered);
    rex_context_drop(range->home);
    range->begin = (uintptr_t)memory;
    return result;
}

static int fail_to_pin(const char *what, size_t size)
{
    return rex_fail(rex_cuda_forked() ? REX_EFORK : REX_ECUDA, "%s, %zu bytes: %s", what, size,
                    rex_cuda_why());
}

/* Pins RANGE for the function WHAT, if there is a GPU. Returns 0, REX_ECUDA or REX_EFORK. */
static int pin_range(struct range *range, const char *what)
{
    if (!range->drivers)
        return REX_OK;
    range->home = rex_context_hold();
    if (call_driver_on_range(range, true) == 0)
        return REX_OK;
    rex_context_unhold();
    return fail_to_pin(what, range->size);
}

/*
 * Unpins RANGE, which is busy, for the function WHAT, and frees RANGE. If the driver fails, RANGE
 * stays in the list. A child of fork does not unpin, because the memory belongs to the driver of
 * the parent.
 */
static int unpin_range(struct range *range, const char *what)
{
    rex_deferred_wait_all();
    if (range->drivers && !rex_cuda_forked()) {
        if (call_driver_on_range(range, false) != 0) {
            int result = fail_to_pin(what, range->size);
            give_range(range, true);
            return result;
        }
        rex_context_unhold();
    }
    give_range(range, false);
    return REX_OK;
}

/* ---- memory of our own ----------------------------------------------------------------------- */

void *rex_host_alloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = NULL;
    if (size == 0) {
        rex_fail(REX_EINVAL, "rex_host_alloc: the size is 0");
        return NULL;
    }
    if (rex_cuda_forked()) {
        fail_to_pin("rex_host_alloc", size);
        return NULL;
    }
    struct range *range = new_range(NULL, size, true);
    if (range == NULL)
        return NULL;
    if (range->drivers) {
        if (pin_range(range, "rex_host_alloc") != REX_OK)
            goto failed;
    } else {
        /* Without a GPU the memory is pageable. */
        if (size <= SIZE_MAX - page)
            memory = aligned_alloc(page, (size + page - 1) / page * page);
        if (memory == NULL) {
            rex_fail_memory(size, "pinned memory");
            goto failed;
        }
        range->begin = (uintptr_t)memory;
    }
    memory = (void *)range->begin;
    rex_lists_lock();
    range->next = ranges;
    __atomic_store_n(&ranges, range, __ATOMIC_RELEASE);
    rex_lists_unlock();
    return memory;
failed:
    free(range);
    return NULL;
}

int rex_host_free(void *memory)
{
    if (memory == NULL)
        return REX_OK;
    struct range *range = take_range(memory, true);
    if (range == NULL)
        return rex_fail(REX_EINVAL,
                        "rex_host_free: %p was not made by rex_host_alloc, or is freed already",
                        memory);
    if (!range->drivers)
        free(memory);
    return unpin_range(range, "rex_host_free");
}

/* ---- memory of the program ------------------------------------------------------------------- */

int rex_host_register(void *address, size_t size)
{
    if (address == NULL)
        return rex_fail_null("rex_host_register", "address");
    if (size == 0)
        return rex_fail(REX_EINVAL, "rex_host_register: the size is 0");
    if ((uintptr_t)address > UINTPTR_MAX - size)
        return rex_fail(REX_EINVAL, "rex_host_register: %zu bytes at %p go past the last address",
                        size, address);
    if (rex_cuda_forked())
        return fail_to_pin("rex_host_register", size);
    struct range *range = new_range(address, size, false), other = {.size = 0};
    if (range == NULL)
        return REX_ENOMEM;
    /*
     * Add the range to the list, marked as busy, before the driver is called. So if two threads pin
     * one range, the second thread finds the range and gets an error.
     */
    rex_lists_lock();
    const struct range *found = find_overlap(range->begin, size);
    if (found != NULL)
        other = *found;
    else {
        range->busy = true;
        range->next = ranges;
        __atomic_store_n(&ranges, range, __ATOMIC_RELEASE);
    }
    rex_lists_unlock();
    if (other.size != 0) {
        free(range);
        return rex_fail(REX_EINVAL,
                        "rex_host_register: %zu bytes at %p overlap the %zu pinned at %p", size,
                        address, other.size, (void *)other.begin);
    }
    rex_deferred_wait_all();
    int result = pin_range(range, "rex_host_register");
    give_range(range, result == REX_OK);
    return result;
}

int rex_host_unregister(void *address)
{
    if (address == NULL)
        return rex_fail_null("rex_host_unregister", "address");
    struct range *range = take_range(address, false);
    if (range == NULL)
        return rex_fail(REX_EINVAL,
                        "rex_host_unregister: nothing that rex_host_register pinned begins at %p",
                        address);
    return unpin_range(range, "rex_host_unregister");
}

/* ---- pageable memory ------------------------------------------------------------------------- */

#define POINTER_MEMORY_TYPE 2 /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */

bool rex_is_pageable_now(const void *address)
{
    int type = 0;
    return rex_driver.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, (uintptr_t)address) ==
           REX_CUDA_INVALID_VALUE;
}

/*
 * Each thread remembers up to 64 stretches of 2 MiB that the driver reported as pageable. If memory
 * was pinned after that report, this thread still treats it as pageable. The processor then copies
 * the memory, which is slower but correct.
 */
#define STRETCH_SHIFT 21
#define STRETCHES 64

bool rex_is_pageable(const void *address)
{
    /* An element is 1 plus the number of a stretch of 2 MiB, or 0 if the element has no stretch. */
    uintptr_t *pageable = rex_part(REX_PART_PAGEABLE, STRETCHES * sizeof *pageable);
    uintptr_t stretch = (uintptr_t)address >> STRETCH_SHIFT;
    if (pageable == NULL)
        return rex_is_pageable_now(address);
    uintptr_t *known = &pageable[stretch % STRETCHES];
    if (*known != stretch + 1 && rex_is_pageable_now(address))
        *known = stretch + 1;
    return *known == stretch + 1;
}
