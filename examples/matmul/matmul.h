/*
 * matmul.h - what the files of matmul share.
 *
 *   matmul.c    main, inputs, the check
 *   offload.c   the device run, on one device or several: the one to read for offloading
 *   kernels.cu  the device side
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MATMUL_H
#define MATMUL_H

#include "../common/shares.h"

/* c = a * b: @size x @size numbers each, row by row. */
struct product {
    int64_t size;
    double *a, *b, *c;
};

struct device_run {
    int64_t launches; /* out */
    double computing; /* out: seconds, without copies */
    double seconds;   /* out: with them */
};

/* Computes c; the pieces of the shares are its rows. 0, or an error with a line on stderr. */
int multiply(const struct product *product, const struct shares *shares, struct device_run *run);

#endif
