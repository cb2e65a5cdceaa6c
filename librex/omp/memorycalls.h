/*
 * memorycalls.h - the bound libomptarget's device memory functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MEMORYCALLS_H
#define REX_INTERNAL_MEMORYCALLS_H

#include <stddef.h>

/*
 * The bound libomptarget's device memory functions; mapped_pointer is NULL before LLVM 16, and
 * associate may be NULL. Only after a registration.
 */
struct rex_omp {
    int (*is_present)(const void *address, int device);
    int (*associate)(const void *address, const void *on_device, size_t size, size_t offset,
                     int device);
    int (*disassociate)(const void *address, int device);
    void *(*mapped_pointer)(const void *address, int device);
    void *(*alloc)(size_t size, int device);
    void (*free)(void *memory, int device);
    int (*copy)(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                int to_device, int from_device);
};
const struct rex_omp *rex_runtime_omp(void);

/* FUNCTIONS are those of the libomptarget that is being bound. Once, before the others. */
void rex_memory_calls_bind(const struct rex_omp *functions);

#endif
