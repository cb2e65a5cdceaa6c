/*
 * driver.h - the CUDA driver, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVER_H
#define REX_INTERNAL_DRIVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Devices beyond these are left to libomptarget. */
#define REX_CUDA_DEVICES_MAX 64

/*
 * Number of NVIDIA GPUs that this process may use; 0 also where there is no driver: rex_cuda_why()
 * then says why.
 */
int rex_cuda_devices(void);
const char *rex_cuda_why(void);

/*
 * Whether there is none because the process is a child of fork, and its parent has started the
 * driver, or began to.
 */
bool rex_cuda_forked(void);

/*
 * Whether there is no GPU to use although there seems to be one, and CUDA_VISIBLE_DEVICES does not
 * say so.
 */
int rex_cuda_broken(void);

/* The driver's file, links followed, in PATH; NULL where it is not open. */
const char *rex_cuda_library(char path[PATH_MAX]);

/* Compute capability of device NUMBER as an SM number (90), 0 if it cannot be told. */
unsigned rex_cuda_architecture(int number);

/*
 * The primary context of device NUMBER: its flags and whether it is active; retain it with FLAGS;
 * release it. 0, or -1 with rex_cuda_why().
 */
int rex_cuda_context_state(int number, unsigned *flags, int *active);
int rex_cuda_context_retain(int number, unsigned flags);
void rex_cuda_context_release(int number);

/* The primary context of device NUMBER, retained as it is. 0, or -1 with rex_cuda_why(). */
int rex_cuda_context_hold(int number, void **context);

/* Pinned host memory, usable by all devices. 0, or -1 with rex_cuda_why(). */
int rex_cuda_host_alloc(void **memory, size_t size);
int rex_cuda_host_free(void *memory);
int rex_cuda_host_pin(void *address, size_t size);
int rex_cuda_host_unpin(void *address);

/*
 * A function of the driver: the name that it exports, the CUDA release that has it first, and where
 * its address goes.
 */
struct rex_cuda_function {
    const char *name, *since;
    void *slot;
};

/* Fill the slots. 0, or -1 with rex_cuda_why(). */
int rex_cuda_find(const struct rex_cuda_function *functions, size_t count);

/* RESULT of the driver's function CALL, noted for rex_cuda_why() where it is not 0. */
int rex_cuda_record(int result, const char *call);

#endif
