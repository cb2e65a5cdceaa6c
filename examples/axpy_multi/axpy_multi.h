/*
 * axpy_multi.h - what the parts of axpy_multi share.
 *
 *   axpy_multi.c  options, inputs, the check, the summary
 *   offload.c     the device run: the one to read for offloading
 *   kernels.cu    the device side
 *   serial.c      the reference for the check
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef AXPY_MULTI_H
#define AXPY_MULTI_H

#include <stdint.h>

/*
 * A round: x is halved, y gets FIRST * x and then SECOND * x, and BIAS more. With all of these, and
 * x and y at the beginning, no result is ever rounded in MOST_ROUNDS rounds. So device and host
 * must agree to the last bit.
 */
#define SCALE 0.5
#define FIRST 2.0
#define SECOND (-3.0)
#define BIAS 0.25

enum {
    MOST_ROUNDS = 32 /* x has 10 bits at the beginning, and each round moves them by one */
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
    double seconds;   /* out: launches and copies */
};

/* The rounds, in place. 0, or -1 with a line on stderr. */
int run_on_device(struct vectors vectors, struct device_run *run);

/* ---- serial.c ---- */

/* The same, on the host. */
void run_serially(struct vectors vectors, int rounds);

#endif
