/*
 * pinned.c - pinned host memory.
 *
 * On an H100 copies from and to it run at 47 GB/s, from malloc's at 9. Where there is no GPU the
 * calls succeed on ordinary memory. The functions are those of rex/offload.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "cuda/context.h"
#include "cuda/hostmemory.h"
#include "rex/device.h"

struct range {
    struct range *next;
    uintptr_t begin;
    size_t size;
    bool ours;    /* rex_host_alloc() made it */
    bool drivers; /* the driver pinned it: there was a GPU */
    bool busy;    /* a thread has the driver pin it, or end that: nobody else may end it */
};

/* of the list; the driver is never called under it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

/* What a thread of the parent was at work on is nobody's any more. */
static void end_in_child(void)
{
    for (struct range *range = ranges; range != NULL; range = range->next)
        range->busy = false;
}

REX_FORK_TAKEN(68, end_in_child);

static int failed(const char *what, size_t size)
{
    return rex_fail(rex_cuda_forked() ? REX_EFORK : REX_ECUDA, "%s, %zu bytes: %s", what, size,
                    rex_cuda_why());
}

/* ---- the list -------------------------------------------------------------------------------- */

/* What rex_host_free() is at work on may be freed already, and other memory in its place. */
static const struct range *overlapping(uintptr_t begin, size_t size)
{
    const struct range *range = ranges;
    while (range != NULL && (begin >= range->begin + range->size || range->begin >= begin + size ||
                             (range->ours && range->busy)))
        range = range->next;
    return range;
}

static void push(struct range *range)
{
    range->next = ranges;
    ranges = range;
}

/* RANGE, which is pinned, goes on the list. */
static void add(struct range *range)
{
    rex_lock(&lock);
    push(range);
    rex_unlock(&lock);
}

/*
 * RANGE goes on the list, busy, unless it overlaps another. That is before the driver is called, so
 * that of two threads that pin one range the second is told.
 */
static int add_unless_overlapping(struct range *range)
{
    int result = REX_OK;
    rex_lock(&lock);
    const struct range *other = overlapping(range->begin, range->size);
    if (other != NULL)
        result =
            rex_fail(REX_EINVAL, "rex_host_register: %zu bytes at %p overlap the %zu pinned at %p",
                     range->size, (void *)range->begin, other->size, (void *)other->begin);
    else {
        range->busy = true;
        push(range);
    }
    rex_unlock(&lock);
    return result;
}

/*
 * The range that begins at ADDRESS, if rex_host_alloc() made it or did not, as OURS says: busy,
 * for the caller to end. NULL if there is none, or another thread is at work on it.
 */
static struct range *find_and_mark_busy(const void *address, bool ours)
{
    rex_lock(&lock);
    struct range *range = ranges;
    while (range != NULL &&
           (range->begin != (uintptr_t)address || range->ours != ours || range->busy))
        range = range->next;
    if (range != NULL)
        range->busy = true;
    rex_unlock(&lock);
    return range;
}

static void remove_from_list(const struct range *range)
{
    struct range **at = &ranges;
    while (*at != range)
        at = &(*at)->next;
    *at = range->next;
}

/* The driver has done its work on the busy RANGE, or failed at it: what is PINNED stays listed. */
static void keep_or_drop(struct range *range, bool pinned)
{
    rex_lock(&lock);
    range->busy = false;
    if (!pinned)
        remove_from_list(range);
    rex_unlock(&lock);
    if (!pinned)
        free(range);
}

bool rex_is_pinned(const void *address)
{
    rex_lock(&lock);
    const struct range *range = overlapping((uintptr_t)address, 1);
    bool pinned = range != NULL && range->drivers;
    rex_unlock(&lock);
    return pinned;
}

static struct range *new_range(const void *address, size_t size, bool ours)
{
    struct range *range = malloc(sizeof *range);
    if (range == NULL)
        rex_fail_memory(sizeof *range, "a pinned range");
    else
        *range = (struct range){.begin = (uintptr_t)address,
                                .size = size,
                                .ours = ours,
                                .drivers = rex_cuda_devices() > 0};
    return range;
}

/* ---- the driver ------------------------------------------------------------------------------ */

/* CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTREGISTER_PORTABLE: pinned for every context. */
#define PORTABLE 0x1

/*
 * Enter the context that the caller holds. To be left with rex_context_leave(); -1 with
 * rex_cuda_why().
 */
static int enter_held_context(void)
{
    void *context;
    int number = rex_context_held();
    if (rex_context_retain(number, &context) != 0)
        return -1;
    int entered = rex_context_enter(context);
    rex_context_drop(number);
    return entered;
}

static int leave(int entered, int result)
{
    rex_context_leave(entered);
    return result;
}

static int driver_allocate(void **memory, size_t size)
{
    int entered = enter_held_context();
    return entered < 0 ? -1 : leave(entered, REX_CUDA(cuMemHostAlloc, memory, size, PORTABLE));
}

static int driver_free(void *memory)
{
    int entered = enter_held_context();
    return entered < 0 ? -1 : leave(entered, REX_CUDA(cuMemFreeHost, memory));
}

static int driver_pin(void *address, size_t size)
{
    int entered = enter_held_context();
    return entered < 0 ? -1 : leave(entered, REX_CUDA(cuMemHostRegister, address, size, PORTABLE));
}

static int driver_unpin(void *address)
{
    int entered = enter_held_context();
    return entered < 0 ? -1 : leave(entered, REX_CUDA(cuMemHostUnregister, address));
}

/* ---- memory of our own ----------------------------------------------------------------------- */

static int allocate(void **memory, size_t size, bool by_driver)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (by_driver) {
        rex_context_hold();
        if (driver_allocate(memory, size) == 0)
            return REX_OK;
        rex_context_unhold();
        return failed("rex_host_alloc", size);
    }
    if (size > SIZE_MAX - page ||
        (*memory = aligned_alloc(page, (size + page - 1) / page * page)) == NULL)
        return rex_fail_memory(size, "pinned memory");
    return REX_OK;
}

static int free_memory(const struct range *range)
{
    void *memory = (void *)range->begin;
    if (!range->drivers)
        free(memory);
    if (!range->drivers || rex_cuda_forked()) /* what the driver gave the parent is the parent's */
        return REX_OK;
    if (driver_free(memory) != 0)
        return failed("rex_host_free", range->size);
    rex_context_unhold();
    return REX_OK;
}

void *rex_host_alloc(size_t size)
{
    void *memory = NULL;
    if (size == 0) {
        rex_fail(REX_EINVAL, "rex_host_alloc: a size of 0");
        return NULL;
    }
    if (rex_cuda_forked()) {
        failed("rex_host_alloc", size);
        return NULL;
    }
    struct range *range = new_range(NULL, size, true);
    if (range == NULL || allocate(&memory, size, range->drivers) != REX_OK) {
        free(range);
        return NULL;
    }
    range->begin = (uintptr_t)memory;
    add(range);
    return memory;
}

int rex_host_free(void *memory)
{
    struct range *range = memory != NULL ? find_and_mark_busy(memory, true) : NULL;
    if (memory == NULL)
        return REX_OK;
    if (range == NULL)
        return rex_fail(REX_EINVAL,
                        "rex_host_free: %p was not made by rex_host_alloc, or is freed already",
                        memory);
    int result = free_memory(range);
    keep_or_drop(range, result != REX_OK);
    return result;
}

/* ---- memory of the program ------------------------------------------------------------------- */

static int pin(void *address, size_t size, bool by_driver)
{
    if (!by_driver)
        return REX_OK;
    rex_context_hold();
    if (driver_pin(address, size) == 0)
        return REX_OK;
    rex_context_unhold();
    return failed("rex_host_register", size);
}

static int unpin(const struct range *range)
{
    if (!range->drivers || rex_cuda_forked())
        return REX_OK;
    if (driver_unpin((void *)range->begin) != 0)
        return failed("rex_host_unregister", range->size);
    rex_context_unhold();
    return REX_OK;
}

int rex_host_register(void *address, size_t size)
{
    if (address == NULL)
        return rex_fail_null("rex_host_register", "address");
    if (size == 0)
        return rex_fail(REX_EINVAL, "rex_host_register: a size of 0");
    if ((uintptr_t)address > UINTPTR_MAX - size)
        return rex_fail(REX_EINVAL, "rex_host_register: %zu bytes at %p go past the last address",
                        size, address);
    if (rex_cuda_forked())
        return failed("rex_host_register", size);
    struct range *range = new_range(address, size, false);
    int result = range != NULL ? add_unless_overlapping(range) : REX_ENOMEM;
    if (result != REX_OK) {
        free(range);
        return result;
    }
    result = pin(address, size, range->drivers);
    keep_or_drop(range, result == REX_OK);
    return result;
}

int rex_host_unregister(void *address)
{
    struct range *range = find_and_mark_busy(address, false);
    if (range == NULL)
        return rex_fail(REX_EINVAL,
                        "rex_host_unregister: nothing that rex_host_register pinned begins at %p",
                        address);
    int result = unpin(range);
    keep_or_drop(range, result != REX_OK);
    return result;
}
