/*
 * pinned.c - pinned host memory.
 *
 * On an H100 copies from and to it run at 47 GB/s, from malloc's at 9. Where there is no GPU the
 * calls succeed on ordinary memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

struct range {
    struct range *next;
    uintptr_t begin;
    size_t size;
    bool ours;    /* rex_pinned_alloc() made it */
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

/* What rex_pinned_free() is at work on may be freed already, and other memory in its place. */
static const struct range *overlapping(uintptr_t begin, size_t size)
{
    const struct range *range = ranges;
    while (range != NULL && (begin >= range->begin + range->size || range->begin >= begin + size ||
                             (range->ours && range->busy)))
        range = range->next;
    return range;
}

static void put(struct range *range)
{
    range->next = ranges;
    ranges = range;
}

/*
 * The range that begins at ADDRESS, if it is of that kind, for the caller to end; NULL if there is
 * none.
 */
static struct range *claim(const void *address, bool ours)
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

/*
 * The driver has done its work on RANGE, or failed at it: what is still pinned stays on the list.
 */
static void settle(struct range *range, bool pinned)
{
    struct range **at = &ranges;
    rex_lock(&lock);
    range->busy = false;
    while (!pinned && *at != range)
        at = &(*at)->next;
    if (!pinned)
        *at = range->next;
    rex_unlock(&lock);
    if (!pinned)
        free(range);
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

/* ---- memory of our own ----------------------------------------------------------------------- */

static int allocate(void **memory, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (rex_cuda_devices() > 0) {
        rex_context_hold();
        if (rex_cuda_host_alloc(memory, size) == 0)
            return REX_OK;
        rex_context_release();
        return failed("rex_pinned_alloc", size);
    }
    if (size > SIZE_MAX - page ||
        (*memory = aligned_alloc(page, (size + page - 1) / page * page)) == NULL)
        return rex_fail_memory(size, "pinned memory");
    return REX_OK;
}

static int release(const struct range *range)
{
    void *memory = (void *)range->begin;
    if (!range->drivers)
        free(memory);
    if (!range->drivers || rex_cuda_forked()) /* what the driver gave the parent is the parent's */
        return REX_OK;
    if (rex_cuda_host_free(memory) != 0)
        return failed("rex_pinned_free", range->size);
    rex_context_release();
    return REX_OK;
}

void *rex_pinned_alloc(size_t size)
{
    void *memory = NULL;
    if (size == 0) {
        rex_fail(REX_EINVAL, "rex_pinned_alloc: a size of 0");
        return NULL;
    }
    if (rex_cuda_forked()) {
        failed("rex_pinned_alloc", size);
        return NULL;
    }
    struct range *range = new_range(NULL, size, true);
    if (range == NULL || allocate(&memory, size) != REX_OK) {
        free(range);
        return NULL;
    }
    range->begin = (uintptr_t)memory;
    rex_lock(&lock);
    put(range);
    rex_unlock(&lock);
    return memory;
}

int rex_pinned_free(void *memory)
{
    struct range *range = memory != NULL ? claim(memory, true) : NULL;
    if (memory == NULL)
        return REX_OK;
    if (range == NULL)
        return rex_fail(REX_EINVAL,
                        "rex_pinned_free: %p was not made by rex_pinned_alloc, or is freed already",
                        memory);
    int result = release(range);
    settle(range, result != REX_OK);
    return result;
}

/* ---- memory of the program ------------------------------------------------------------------- */

static int pin(void *address, size_t size)
{
    if (rex_cuda_devices() == 0)
        return REX_OK;
    rex_context_hold();
    if (rex_cuda_host_pin(address, size) == 0)
        return REX_OK;
    rex_context_release();
    return failed("rex_pin", size);
}

static int unpin(const struct range *range)
{
    if (!range->drivers || rex_cuda_forked())
        return REX_OK;
    if (rex_cuda_host_unpin((void *)range->begin) != 0)
        return failed("rex_unpin", range->size);
    rex_context_release();
    return REX_OK;
}

/* Before the driver is called, so that of two threads that pin one range the second is told. */
static int list(struct range *range)
{
    int result = REX_OK;
    rex_lock(&lock);
    const struct range *other = overlapping(range->begin, range->size);
    if (other != NULL)
        result = rex_fail(REX_EINVAL, "rex_pin: %zu bytes at %p overlap the %zu pinned at %p",
                          range->size, (void *)range->begin, other->size, (void *)other->begin);
    else {
        range->busy = true;
        put(range);
    }
    rex_unlock(&lock);
    return result;
}

int rex_pin(void *address, size_t size)
{
    if (address == NULL || size == 0 || (uintptr_t)address > UINTPTR_MAX - size)
        return rex_fail(REX_EINVAL, "rex_pin: %zu bytes at %p", size, address);
    if (rex_cuda_forked())
        return failed("rex_pin", size);
    struct range *range = new_range(address, size, false);
    int result = range != NULL ? list(range) : REX_ENOMEM;
    if (result != REX_OK) {
        free(range);
        return result;
    }
    result = pin(address, size);
    settle(range, result == REX_OK);
    return result;
}

int rex_unpin(void *address)
{
    struct range *range = claim(address, false);
    if (range == NULL)
        return rex_fail(REX_EINVAL, "rex_unpin: nothing that rex_pin pinned begins at %p", address);
    int result = unpin(range);
    settle(range, result != REX_OK);
    return result;
}
