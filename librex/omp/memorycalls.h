/*
 * memorycalls.h - the bound libomptarget's devices, and its functions for device memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MEMORYCALLS_H
#define REX_INTERNAL_MEMORYCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/forward.h"

/*
 * The bound libomptarget's functions for device memory; associate may be NULL. mapped_pointer uses
 * the data calls if libomptarget has no such function. Call these only after a registration:
 * without one, LLVM 19 and later crash in omp_get_num_devices().
 */
struct rex_omp {
    int (*device_count)(void);
    int (*is_present)(const void *address, int device);
    int (*associate)(const void *address, const void *on_device, size_t size, size_t offset,
                     int device);
    int (*disassociate)(const void *address, int device);
    void *(*mapped_pointer)(const void *address, int device);
    void *(*alloc)(size_t size, int device);
    void (*free)(void *memory, int device);
    int (*copy)(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                int to_device, int from_device);
    void (*data_begin)(MAPPER_P);
    void (*data_end)(MAPPER_P);
};
const struct rex_omp *rex_runtime_omp(void);

/* Binding sets FUNCTIONS, once, before any other function here is called. */
void rex_memory_calls_bind(const struct rex_omp *functions);

/* Whether OMP_TARGET_OFFLOAD=disabled: libomptarget then does nothing and returns -1. */
bool rex_runtime_disabled(void);

/*
 * Number of devices at the last question to libomptarget; rex_devices_ask() asks again. If
 * offloading is disabled every call returns -1 for any device, so that no number has to be checked.
 */
#define REX_DEVICES_DISABLED (INT32_MAX - 1)
extern int rex_omp_devices;
int rex_devices_ask(void);

static inline int rex_devices_known(void)
{
    /* Relaxed: the number stands for itself; an old one makes the caller ask again. */
    return __atomic_load_n(&rex_omp_devices, __ATOMIC_RELAXED);
}

/* Whether NUMBER is the host's, where all memory counts as mapped, or a higher one. */
static inline bool rex_device_is_host(int number)
{
    return number >= rex_devices_known() && number >= rex_devices_ask();
}

#endif
