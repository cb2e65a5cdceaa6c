/*
 * pathfinder.h - declarations for the parts of pathfinder.
 *
 *   pathfinder.c  options, inputs, the check, the summary.
 *   offload.c     the device run: read this file to learn offloading.
 *   kernels.cu    the device side.
 *   grid.c        generated grids, and the comparison with the serial run.
 *   serial.c      the reference for the check.
 *
 * examples/pathfinder_raw also uses grid.c and serial.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PATHFINDER_H
#define PATHFINDER_H

#include <stdint.h>

#include "../common/ways.h"

enum {
    DEFAULT_COLUMNS = 100000, /* as in Rodinia */
    DEFAULT_ROWS = 100,
    MOST_COLUMNS = 1 << 28,
    MOST_ROWS = 1 << 20 /* the sum of so many costs of 0 to 9 is far below 2^31 */
};

/* The cost of each cell: @rows x @columns numbers from 0 to 9, row by row. */
struct grid {
    int64_t rows;
    int64_t columns;
    int32_t *cost;
};

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: way to launch */
    int64_t launches; /* out */
    double seconds;   /* out: time of launches and copies */
};

/*
 * Stores the cost of the cheapest way to each cell of the last row in @cheapest. Returns 0, or -1
 * with a line on stderr.
 */
int walk_on_device(const struct grid *grid, int32_t *cheapest, struct device_run *run);

/* ---- serial.c ---- */

/* Does the work of walk_on_device() on the host. Returns 0, or -1: out of memory. */
int walk_serially(const struct grid *grid, int32_t *cheapest);

/* ---- grid.c ---- */

/* Makes random costs, for free() by the caller. Returns 0, or -1 with a line on stderr. */
int make_grid(struct grid *grid, int64_t rows, int64_t columns);

struct check {
    double seconds; /* time of the serial run */
    int64_t wrong;  /* number of cells of the last row with another cost in the serial run */
};

/* Runs serially and compares. Returns 0, or -1 with a line on stderr. */
int check_against_serial(const struct grid *grid, const int32_t *cheapest, struct check *check);

/* Returns the least of @count costs. */
int32_t least_cost(const int32_t *cheapest, int64_t count);

#endif
