/*
 * gpu.h - the NVIDIA GPUs, as the driver describes them, and why there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GPU_H
#define REX_INTERNAL_GPU_H

#include <stdbool.h>
#include <stddef.h>

/* ---- why there is no GPU --------------------------------------------------------------------- */

#define REX_NOGPU_FORKED "a child of fork cannot use a driver that its parent has started"

/* A cause that is no CUresult: libcuda.so.1 cannot be opened. */
#define REX_NOGPU_LIBRARY (-1)
/* The driver lacks a function. */
#define REX_NOGPU_FUNCTION (-2)
/* CUDA_ERROR_NO_DEVICE, also where the driver reports 0 devices. */
#define REX_NOGPU_DEVICE 100

/*
 * Why the driver stopped with RESULT, in TEXT of SIZE bytes: "", or "; " and a sentence. It looks
 * at CUDA_VISIBLE_DEVICES, device files and the kernel module.
 */
void rex_nogpu_explain(int result, char *text, size_t size);

/* Why this process can open no file at all, as EMFILE; 0: it can. */
int rex_nogpu_open_error(void);

/*
 * The kernel module's own words, "NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...", in TEXT.
 * Whether there is one: else TEXT is left alone.
 */
bool rex_kernel_module(char *text, size_t size);

/* The folder that stands before /dev and /proc: "", but for tests. */
extern const char *rex_nogpu_root;

#endif
