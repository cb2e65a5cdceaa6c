/*
 * Lesson 3: what the two host files share.
 *
 * steps.c defines the kernels' keys with REX_KERNEL; many_kernels.c launches one of the kernels too, and
 * REX_KERNEL_DECLARE makes its key known there. Defining a kernel in two files would be two identities, and the linker
 * refuses it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SPRINGS_H
#define SPRINGS_H

#include <rex.h>

REX_KERNEL_DECLARE(energy);

enum {
    TEAMS = 64,
    THREADS = 128
};

/* Map types of rows; lesson 1 explains the bits. */
enum {
    MAP_ALLOC = 0x0, /* memory on the device, nothing copied */
    MAP_TO = 0x1,
    MAP_FROM = 0x2,
    MAP_LITERAL = 0x120,  /* a kernel's parameter that is a value */
    MAP_PARAMETER = 0x20, /* a kernel's parameter; no copy of its own, the data region has seen to it */
};

/* One launch over @count bodies with @rows rows. Returns 0 or -1. */
int launch(void *kernel, int64_t count, uint32_t rows, void **address, int64_t *sizes, int64_t *types);

/* One time step of @count bodies: two launches. The arrays must be mapped. Returns 0 or -1. */
int take_step(int64_t count, double *position, double *velocity);

#endif
