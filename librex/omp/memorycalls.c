/*
 * memorycalls.c - the bound libomptarget's devices, and its functions for device memory. Each call
 * is in flight (flight.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/memorycalls.h"

#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "omp/flight.h"
#include "omp/lookup.h"
#include "rex/map.h"
#include "trace/trace.h"

/* The library's functions, and the counting ones that callers get. */
static struct rex_omp own, counted;

static int device_count(void)
{
    if (rex_flight_enter() != REX_OK)
        return 0;
    int count = own.device_count();
    rex_flight_leave();
    return count;
}

static int is_present(const void *address, int device)
{
    if (rex_flight_enter() != REX_OK)
        return 0;
    int result = own.is_present(address, device);
    rex_flight_leave();
    return result;
}

static int disassociate(const void *address, int device)
{
    if (rex_flight_enter() != REX_OK)
        return -1;
    int result = own.disassociate(address, device);
    rex_flight_leave();
    return result;
}

static int associate(const void *address, const void *on_device, size_t size, size_t offset,
                     int device)
{
    if (rex_flight_enter() != REX_OK)
        return -1;
    int result = own.associate(address, on_device, size, offset, device);
    rex_flight_leave();
    return result;
}

static void *mapped_pointer(const void *address, int device)
{
    if (rex_flight_enter() != REX_OK)
        return NULL;
    void *result = own.mapped_pointer(address, device);
    rex_flight_leave();
    return result;
}

/*
 * LLVM 14 and 15 have no omp_get_mapped_ptr. The runtime writes the device address to the base of a
 * row with RETURN_PARAM (use_device_ptr), and the end takes the row's reference back. LLVM 15
 * crashes if a row without a reference meets the end of its mapping. No mapping ends during a
 * look-up, so memory that is present has a reference to take and give back. Absent memory gives
 * NULL: the row's end would end a mapping that another thread makes meanwhile.
 */
static void *pointer_by_row(const void *address, int device)
{
    void *begin = (void *)(uintptr_t)address, *base = begin, *result = NULL;
    int64_t size = 0, type = REX_MAP_RETURN_PARAM;
    if (rex_flight_enter() != REX_OK)
        return NULL;
    rex_lookup_begin();
    rex_trace_depth++;
    if (own.is_present(address, device)) {
        own.data_begin(NULL, device, 1, &base, &begin, &size, &type, NULL, NULL);
        result = base;
        base = begin;
        own.data_end(NULL, device, 1, &base, &begin, &size, &type, NULL, NULL);
    }
    rex_trace_depth--;
    rex_lookup_end();
    rex_flight_leave();
    return result;
}

static void *allocate(size_t size, int device)
{
    if (rex_flight_enter() != REX_OK)
        return NULL;
    void *memory = own.alloc(size, device);
    rex_flight_leave();
    return memory;
}

static void free_memory(void *memory, int device)
{
    if (rex_flight_enter() != REX_OK)
        return;
    own.free(memory, device);
    rex_flight_leave();
}

static int copy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                int to_device, int from_device)
{
    int result = rex_flight_enter();
    if (result != REX_OK)
        return result;
    result = own.copy(to, from, size, to_offset, from_offset, to_device, from_device);
    rex_flight_leave();
    return result;
}

void rex_memory_calls_bind(const struct rex_omp *functions)
{
    own = *functions;
    counted = (struct rex_omp){.device_count = device_count,
                               .is_present = is_present,
                               .associate = own.associate != NULL ? associate : NULL,
                               .disassociate = disassociate,
                               .mapped_pointer =
                                   own.mapped_pointer != NULL ? mapped_pointer : pointer_by_row,
                               .alloc = allocate,
                               .free = free_memory,
                               .copy = copy};
    if (own.mapped_pointer == NULL)
        rex_lookups_take_references();
}

const struct rex_omp *rex_runtime_omp(void)
{
    return &counted;
}

/* ---- devices --------------------------------------------------------------------------------- */

int rex_omp_devices;

bool rex_runtime_disabled(void)
{
    const char *policy = getenv("OMP_TARGET_OFFLOAD");
    return policy != NULL && strcasecmp(policy, "disabled") == 0;
}

int rex_devices_ask(void)
{
    int count = rex_runtime_disabled() ? REX_DEVICES_DISABLED : counted.device_count();
    /* Relaxed: the number stands for itself; nothing else is read because of it. */
    __atomic_store_n(&rex_omp_devices, count, __ATOMIC_RELAXED);
    return count;
}
