/*
 * nogpu.h - why there is no GPU, and what helps.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_NOGPU_H
#define REX_INTERNAL_NOGPU_H

#include <stdbool.h>
#include <stddef.h>

#define REX_NOGPU_FORKED "a child of fork cannot use a driver that its parent has started"

/* What stopped the driver. */
enum rex_nogpu {
    REX_NOGPU_LIBRARY,  /* libcuda.so.1 cannot be opened */
    REX_NOGPU_FUNCTION, /* it lacks a function */
    REX_NOGPU_RESULT,   /* cuInit or cuDeviceGetCount failed */
    REX_NOGPU_COUNT     /* there are 0 devices */
};

/*
 * Append to TEXT, of SIZE bytes, what the machine tells about the cause: CUDA_VISIBLE_DEVICES,
 * device files, the kernel module; and what helps. RESULT is the CUresult.
 */
void rex_nogpu_explain(enum rex_nogpu cause, int result, char *text, size_t size);

/* Why this process can open no file at all, as EMFILE; 0: it can. */
int rex_nogpu_open_error(void);

/*
 * What the kernel module says of itself, "NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...", in
 * TEXT. Whether there is one: else TEXT is left alone.
 */
bool rex_kernel_module(char *text, size_t size);

/* What stands in front of /dev and /proc: "", but for tests. */
extern const char *rex_nogpu_root;

#endif
