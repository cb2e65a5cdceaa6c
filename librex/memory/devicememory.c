/*
 * devicememory.c - device memory, and queries whether memory is mapped (rex/device.h, and
 * rex_device_copy_peer() of rex/interop.h). This file calls the omp_target_* functions of
 * libomptarget: they return errors, while the __tgt_* functions abort.
 *
 * If the device is lost, queries of mappings still work, because libomptarget answers them from
 * host memory. Allocations and copies fail here, without a call of libomptarget. For a lost device
 * rex_device_free() frees nothing, because at least LLVM 19 to 22 would abort.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/devicememory.h"

#include <search.h>
#include <stdlib.h>

#include "base/error.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "cuda/lost.h"
#include "memory/makecopy.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/lookup.h"
#include "present/present.h"
#include "present/unfinished.h"
#include "rex/interop.h"
#include "rex/launch.h"
#include "trace/trace.h"

/* ---- memory of rex_device_alloc() ------------------------------------------------------------ */

struct allocation {
    uintptr_t begin, end;
    int number; /* number of the device */
};

static void *allocations; /* a tree of tsearch(), guarded by rex_lists_lock() */

/*
 * Two allocations that overlap compare as equal. So a search for one byte finds the allocation that
 * has the byte.
 */
static int compare_allocations(const void *left, const void *right)
{
    const struct allocation *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->begin >= b->end) - (a->end <= b->begin);
}

/*
 * Adds an allocation to the tree. If memory is short, the allocation is not added, and
 * rex_is_device_memory() returns false for it.
 */
static void note_allocation(const void *memory, size_t size, int number)
{
    struct allocation *made = malloc(sizeof *made);
    if (made == NULL)
        return;
    *made = (struct allocation){(uintptr_t)memory, (uintptr_t)memory + size, number};
    rex_lists_lock();
    struct allocation **at = tsearch(made, &allocations, compare_allocations);
    rex_lists_unlock();
    if (at == NULL || *at != made)
        free(made);
}

static void forget_allocation(const void *memory, int number)
{
    const struct allocation wanted = {(uintptr_t)memory, (uintptr_t)memory + 1, number};
    rex_lists_lock();
    struct allocation **at = tfind(&wanted, &allocations, compare_allocations), *found = NULL;
    if (at != NULL) {
        found = *at;
        tdelete(found, &allocations, compare_allocations);
    }
    rex_lists_unlock();
    free(found);
}

bool rex_is_device_memory(const void *address, int number)
{
    const struct allocation wanted = {(uintptr_t)address, (uintptr_t)address + 1, number};
    rex_lists_lock();
    bool is_found = tfind(&wanted, &allocations, compare_allocations) != NULL;
    rex_lists_unlock();
    return is_found;
}

/* ---- queries and allocations ----------------------------------------------------------------- */

int rex_none_registered(const char *what)
{
    int result = rex_gate_check();
    if (result != REX_OK)
        return result;
    if (rex_runtime_disabled())
        return rex_fail(REX_EINVAL, "%s: offloading is disabled (OMP_TARGET_OFFLOAD)", what);
    return rex_fail(REX_EINVAL, "%s: no module is registered: call rex_offload_init() first", what);
}

bool rex_target_is_present(const void *address, size_t size, int64_t device)
{
    int number = 0;
    return address != NULL && rex_device_count() > 0 &&
           rex_device_resolve(device, &number) == REX_OK &&
           rex_memory_presence(address, size, number) == REX_PRESENT_WHOLE;
}

void *rex_mapped_ptr(const void *address, int64_t device)
{
    int number = 0;
    if (address == NULL || rex_device_count() == 0 || rex_device_resolve(device, &number) != REX_OK)
        return NULL;
    rex_present_show(address, number);
    rex_await_deferred(number);
    return rex_memory_address(address, number);
}

int rex_await_device(int number, const char *caller)
{
    rex_await_deferred(number);
    return rex_device_lost(number, caller);
}

int rex_device_sync(int64_t device)
{
    int number = 0;
    if (rex_device_count() == 0)
        return rex_none_registered("rex_device_sync");
    int result = rex_device_resolve(device, &number);
    if (result != REX_OK)
        return result;
    result = rex_await_device(number, "rex_device_sync");
    return result == REX_OK ? rex_unfinished_sync_all(number) : result;
}

void *rex_device_alloc(size_t size, int64_t device)
{
    int number = 0;
    if (size == 0) {
        rex_fail(REX_EINVAL, "rex_device_alloc: the size is 0");
        return NULL;
    }
    /*
     * A device exists only after a registration. A program without kernels may allocate memory
     * before the shared object with the kernels has registered its module. So if there is no
     * device, register a module that librex knows.
     */
    int result = rex_gate_check();
    if (result == REX_OK && rex_device_count() == 0)
        result =
            rex_runtime_disabled() ? rex_none_registered("rex_device_alloc") : rex_modules_bring();
    if (result == REX_NO_ENTRIES)
        rex_fail(REX_EINVAL,
                 "rex_device_alloc: there is no device: librex knows no binary with kernels. Call "
                 "rex_offload_init() in a binary that has kernels, or first load a shared object "
                 "that has kernels");
    if (result != REX_OK || rex_device_resolve(device, &number) != REX_OK ||
        rex_device_lost(number, "rex_device_alloc") != REX_OK || rex_device_load(number) != REX_OK)
        return NULL;
    void *memory = rex_runtime_omp()->alloc(size, number);
    if (memory == NULL && rex_blocks_free_all())
        memory = rex_runtime_omp()->alloc(size, number);
    if (memory == NULL)
        rex_fail(REX_ENOMEM, "rex_device_alloc: device %d has too little memory for %zu bytes",
                 number, size);
    else
        note_allocation(memory, size, number);
    return memory;
}

void rex_device_free(void *memory, int64_t device)
{
    int number = 0;
    if (memory == NULL)
        return;
    if (rex_device_count() == 0) {
        rex_none_registered("rex_device_free");
        return;
    }
    if (rex_device_resolve(device, &number) != REX_OK)
        return;
    if (rex_any_unfinished())
        rex_unfinished_sync(NULL, number, "rex_device_free");
    if (rex_await_device(number, "rex_device_free") != REX_OK)
        return;
    forget_allocation(memory, number);
    rex_runtime_omp()->free(memory, number);
}

int rex_copy_between_host(void *to, int to_host, const void *from, size_t size, int64_t device,
                          const char *caller)
{
    int number = 0, host = rex_device_count();
    if (host == 0)
        return rex_none_registered(caller);
    if (to == NULL || from == NULL)
        return rex_fail(REX_EINVAL, "%s: %s is NULL", caller,
                        to == NULL ? "the destination" : "the source");
    int result = rex_device_resolve(device, &number);
    if (result == REX_OK)
        result = rex_await_device(number, caller);
    if (result != REX_OK || size == 0)
        return result;
    uint64_t begin = rex_phase_begin();
    /* librex makes the copy if librex is faster than libomptarget. */
    void *source = (void *)(uintptr_t)from;
    struct rex_copy copy = {.host = to_host ? to : source,
                            .device = (uint64_t)(uintptr_t)(to_host ? source : to),
                            .size = size,
                            .to_host = to_host};
    bool is_made = false;
    if (rex_copies_are_allowed() && rex_copy_is_ours(&copy))
        rex_copy_some(&copy, 1, number, &is_made);
    if (!is_made && rex_runtime_omp()->copy(to, from, size, 0, 0, to_host ? host : number,
                                            to_host ? number : host) != 0)
        return rex_fail(REX_ERUNTIME,
                        "%s: libomptarget could not copy %zu bytes between the host and device %d, "
                        "from %p to %p",
                        caller, size, number, from, to);
    rex_copy_took(begin, to_host ? REX_COPIED_FROM : REX_COPIED_TO, size, number);
    return REX_OK;
}

int rex_device_copy_to(void *to, const void *from, size_t size, int64_t device)
{
    return rex_copy_between_host(to, 0, from, size, device, "rex_device_copy_to");
}

int rex_device_copy_from(void *to, const void *from, size_t size, int64_t device)
{
    return rex_copy_between_host(to, 1, from, size, device, "rex_device_copy_from");
}

int rex_copy_between_devices(void *to, int64_t to_device, const void *from, int64_t from_device,
                             size_t size, const char *caller)
{
    int to_number = 0, from_number = 0;
    if (rex_device_count() == 0)
        return rex_none_registered(caller);
    if (to == NULL || from == NULL)
        return rex_fail(REX_EINVAL, "%s: %s is NULL", caller,
                        to == NULL ? "the destination" : "the source");
    int result = rex_device_resolve(to_device, &to_number);
    if (result == REX_OK)
        result = rex_device_resolve(from_device, &from_number);
    if (result == REX_OK)
        result = rex_await_device(to_number, caller);
    if (result == REX_OK)
        result = rex_await_device(from_number, caller);
    if (result != REX_OK || size == 0)
        return result;
    uint64_t begin = rex_phase_begin();
    if (rex_runtime_omp()->copy(to, from, size, 0, 0, to_number, from_number) != 0)
        return rex_fail(REX_ERUNTIME,
                        "%s: libomptarget could not copy %zu bytes from device %d to device %d, "
                        "from %p to %p",
                        caller, size, from_number, to_number, from, to);
    rex_copy_took(begin, REX_COPIED_BETWEEN, size, to_number);
    return REX_OK;
}

int rex_device_copy_peer(void *to, int64_t to_device, const void *from, int64_t from_device,
                         size_t size)
{
    return rex_copy_between_devices(to, to_device, from, from_device, size, "rex_device_copy_peer");
}
