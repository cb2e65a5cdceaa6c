/*
 * micro.h - small pieces of offloading, to be timed: micro.c measures, and one of
 *
 *     offload.c            librex; linked with a peer's functions, stock libomptarget or the CUDA driver (tests/bench/peers)
 *     openmp/micro.c       there: a compiler's own OpenMP
 *
 * does the work. All functions return 0, or -1 after a line on stderr; `start` also registers, loads and launches once.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MICRO_H
#define MICRO_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_ARGUMENTS = 256 };

int micro_start(void);

/* A number that `start` maps, for launches to change on the device. */
double *micro_cell(void);

/* A launch that does nothing. */
int micro_empty(void);

/* A launch with @count pointers to the number (16, 64 or 256), which adds 1 to it. */
int micro_arguments(int count);

/* y += a * x for @count numbers, on memory that is mapped already, or mapped by the launch. */
int micro_axpy(double a, double *x, double *y, int64_t count, int mapped);

/* A region of y, which is copied to the device and back, around @launches such launches; x is mapped already. */
int micro_region(double *x, double *y, int64_t count, long launches);

/* Map @bytes and end the mapping; the copies are to the device (at the beginning), and back. */
int micro_map(void *memory, int64_t bytes);
int micro_unmap(void *memory, int64_t bytes);
int micro_copy_to(void *memory, int64_t bytes);
int micro_copy_from(void *memory, int64_t bytes);

/* Host memory, pinned where that can be had; NULL otherwise. */
void *micro_pinned(size_t bytes);

#endif
