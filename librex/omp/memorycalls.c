/*
 * memorycalls.c - libomptarget's device memory functions: each call is in flight as others are.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/memorycalls.h"

#include "base/error.h"
#include "omp/flight.h"
#include "omp/lookup.h"

/* The library's functions, and those that callers get. */
static struct rex_omp own, counted;

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
    counted = (struct rex_omp){is_present, NULL, disassociate, NULL, allocate, free_memory, copy};
    if (own.associate != NULL)
        counted.associate = associate;
    if (own.mapped_pointer != NULL)
        counted.mapped_pointer = mapped_pointer;
    else
        rex_lookups_take_references();
}

const struct rex_omp *rex_runtime_omp(void)
{
    return &counted;
}
