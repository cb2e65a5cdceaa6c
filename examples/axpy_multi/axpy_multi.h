/*
 * axpy_multi.h - declarations for the parts of axpy_multi.
 *
 *   axpy_multi.c  options, inputs, the check, the summary.
 *   offload.c     the device run: read this file to learn offloading.
 *   kernels.cu    the device side.
 *   serial.c      the reference for the check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef AXPY_MULTI_H
#define AXPY_MULTI_H

#include <stdint.h>

/*
 * A round halves x and adds FIRST * x, SECOND * x and BIAS to y. With these factors and the first
 * values of x and y no result is rounded in MOST_ROUNDS rounds. So the results of device and host
 * must be equal.
 */
#define SCALE 0.5
#define FIRST 2.0
#define SECOND (-3.0)
#define BIAS 0.25

enum {
    MOST_ROUNDS = 32 /* x has 10 bits at the beginning, and each round shifts them by one bit */
};

struct vectors {
    int64_t count;
    double *x;
    double *y;
};

/* ---- offload.c, or examples/15_axpy_multi_raw ---- */

extern const char program_name[];

struct device_run {
    int device;       /* in: number, -1 for the default */
    int rounds;       /* in */
    int64_t launches; /* out */
    double seconds;   /* out: time of launches and copies */
};

/* Runs the rounds in place. Returns 0, or -1 with a line on stderr. */
int run_on_device(struct vectors vectors, struct device_run *run);

/* ---- serial.c ---- */

/* Runs the rounds in place, on the host. */
void run_serially(struct vectors vectors, int rounds);

#endif
