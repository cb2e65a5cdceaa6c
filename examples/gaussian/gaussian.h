/*
 * gaussian.h - what the parts of gaussian share.
 *
 *   gaussian.c   options, the check, the summary
 *   offload.c    the device run: the one to read for offloading
 *   kernels.cu   the device side
 *   serial.c     the reference for the check
 *   system.c     systems of equations: made up, and files in Rodinia's format
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef GAUSSIAN_H
#define GAUSSIAN_H

#include <stdint.h>

#include "../common/ways.h"

enum {
    MOST_UNKNOWNS = 16384 /* the matrix then takes 2 GiB, and there are two */
};

/* matrix * x = right, @size unknowns; the matrix row by row. */
struct equations {
    int64_t size;
    double *matrix;
    double *right;
};

/* ---- system.c ---- */

/* The system that Rodinia makes up. 0, or -1 with a line on stderr. */
int make_equations(struct equations *system, int64_t size);

/* Reads a file in Rodinia's format. 0, or -1 with a line on stderr that names file and cause. */
int read_equations(const char *path, struct equations *system);

/* Writes size, matrix row by row, right-hand side. 0, or -1 with a line on stderr. */
int write_equations(const char *path, const struct equations *system);

/* A copy of the numbers. 0, or -1 with a line on stderr. */
int copy_equations(const struct equations *system, struct equations *copy);

void free_equations(struct equations *system);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: how to launch */
    int64_t launches; /* out */
    double seconds;   /* out: launches and copies */
};

/*
 * @solution receives the unknowns; the system is left triangular on the device and untouched here.
 * Rows are not exchanged: a pivot of 0 makes infinities. 0, or -1 with a line on stderr.
 */
int solve_on_device(const struct equations *system, double *solution, struct device_run *run);

/* ---- serial.c ---- */

/* The same on the host; the system is overwritten. Returns -1, or the row whose pivot is 0. */
int64_t solve_serially(struct equations *system, double *solution);

/* The largest |matrix * x - right|, as a share of the largest number in the sum. */
double residual(const struct equations *system, const double *solution);

#endif
