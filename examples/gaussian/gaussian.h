/*
 * gaussian.h - declarations for the parts of gaussian.
 *
 *   gaussian.c   options, the check, the summary.
 *   offload.c    the device run: read this file to learn offloading.
 *   kernels.cu   the device side.
 *   serial.c     the reference for the check.
 *   system.c     systems of equations: generated ones, and files in Rodinia's format.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef GAUSSIAN_H
#define GAUSSIAN_H

#include <stdint.h>

#include "../common/ways.h"

enum {
    MOST_UNKNOWNS = 16384 /* the program has two matrices, then of 2 GiB each */
};

/* The system matrix * x = right with @size unknowns. The matrix is stored row by row. */
struct equations {
    int64_t size;
    double *matrix;
    double *right;
};

/* ---- system.c ---- */

/* Generates Rodinia's system. Returns 0, or -1 with a line on stderr. */
int make_equations(struct equations *system, int64_t size);

/* Reads a file in Rodinia's format. Returns 0, or -1 with file and cause on stderr. */
int read_equations(const char *path, struct equations *system);

/* Writes size, matrix and right-hand side. Returns 0, or -1 with a line on stderr. */
int write_equations(const char *path, const struct equations *system);

/* Copies @system into new memory of @copy. Returns 0, or -1 with a line on stderr. */
int copy_equations(const struct equations *system, struct equations *copy);

void free_equations(struct equations *system);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: way to launch */
    int64_t launches; /* out */
    double seconds;   /* out: time of launches and copies */
};

/*
 * Solves the system, and stores the unknowns in @solution. It changes the device's copy of the
 * system, and not @system. It exchanges no rows, so a pivot of 0 makes infinities. Returns 0, or -1
 * with a line on stderr.
 */
int solve_on_device(const struct equations *system, double *solution, struct device_run *run);

/* ---- serial.c ---- */

/* Solves the system on the host, and overwrites it. Returns -1, or the row whose pivot is 0. */
int64_t solve_serially(struct equations *system, double *solution);

/* Returns the largest |matrix * x - right|, as a share of the largest term of any row. */
double residual(const struct equations *system, const double *solution);

#endif
