/*
 * pathfinder.h - what the parts of pathfinder share.
 *
 *   pathfinder.c  options, inputs, the check, the summary.
 *   offload.c     the device run: the one to read for offloading.
 *   kernels.cu    the device side.
 *   grid.c        grids that are made up, and the comparison with the serial run.
 *   serial.c      the reference for the check.
 *
 * grid.c and serial.c are part of examples/pathfinder_raw as well.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PATHFINDER_H
#define PATHFINDER_H

#include <stdint.h>

#include "../common/ways.h"

enum {
    DEFAULT_COLUMNS = 100000, /* Rodinia's */
    DEFAULT_ROWS = 100,
    MOST_COLUMNS = 1 << 28,
    MOST_ROWS = 1 << 20 /* costs of 0 to 9, added up, stay far below 2^31 */
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
    struct ways ways; /* in: how to launch */
    int64_t launches; /* out */
    double seconds;   /* out: launches and copies */
};

/*
 * @cheapest: cost of the cheapest way to each cell of the last row. 0, or -1 and a line on stderr.
 */
int walk_on_device(const struct grid *grid, int32_t *cheapest, struct device_run *run);

/* ---- serial.c ---- */

/* As walk_on_device(). 0, or -1: out of memory. */
int walk_serially(const struct grid *grid, int32_t *cheapest);

/* ---- grid.c ---- */

/* Random costs, the same for the same size. 0, or -1 with a line on stderr. Free the costs. */
int make_grid(struct grid *grid, int64_t rows, int64_t columns);

struct check {
    double seconds; /* of the serial run */
    int64_t wrong;  /* cells of the last row for which it finds something else */
};

/* Makes the serial run and compares. 0, or -1 with a line on stderr. */
int check_against_serial(const struct grid *grid, const int32_t *cheapest, struct check *check);

/* The least of @count costs. */
int32_t least_cost(const int32_t *cheapest, int64_t count);

#endif
