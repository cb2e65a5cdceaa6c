/*
 * matmul.h - declarations for the files of matmul.
 *
 *   matmul.c    main, inputs, the check.
 *   offload.c   the device run, on one device or several: read this file to learn offloading.
 *   kernels.cu  the device side.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MATMUL_H
#define MATMUL_H

#include "../common/shares.h"

/* The product c = a * b. Each matrix has @size x @size numbers, row by row. */
struct product {
    int64_t size;
    double *a, *b, *c;
};

struct device_run {
    int64_t launches; /* out */
    double computing; /* out: seconds without copies */
    double seconds;   /* out: seconds with copies */
};

/* Computes c. The shares have its rows. Returns 0, or an error with a line on stderr. */
int multiply(const struct product *product, const struct shares *shares, struct device_run *run);

#endif
