/*
 * hotspot_mpi.h - declarations for the files of the program. See hotspot_mpi.c.
 *
 *   part.c     the rank's part of the chip, and its neighbours.
 *   offload.c  the device run: a queue of steps, and a parallel queue of exchanges.
 *   halo.c     the exchange with the neighbours.
 *   state.c    the file for a restart.
 *   gather.c   the whole chip on rank 0, for check and picture.
 *
 * Model, inputs, serial run and picture are hotspot's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef HOTSPOT_MPI_H
#define HOTSPOT_MPI_H

#include <mpi.h>
#include <rex.h>

#include "../common/common.h"
#include "../hotspot/hotspot.h"
#include "halo.h"

/* ---- part.c ---- */

/* A rank's part of the chip, of at least one cell. */
struct part {
    struct chip chip; /* the whole chip */
    struct rectangle cells;
    MPI_Comm grid; /* communicator of all ranks */
    int rank, ranks;
    int parts[2];          /* number of parts down and across */
    int neighbours[SIDES]; /* north, south, west, east; MPI_PROC_NULL at the edge of the chip */
    double *power;         /* power of the part's cells */
    double *temp;          /* temperatures, with one row more above and below; pinned */
};

/*
 * Divides @size x @size cells among all ranks. Returns 0, or -1 with a line on stderr. Call
 * part_free() in any case.
 */
int part_make(struct part *part, int64_t size);
void part_free(struct part *part);

/* Returns the part's first cell in @field, which has one row more above. */
double *part_cells(const struct part *part, double *field);

/* ---- state.c: the whole chip's temperatures in one file, whatever the number of ranks ---- */

/*
 * Writes the file; all ranks must call it. An older file stays until the new file is complete.
 * Returns 0, or -1 with a line on stderr.
 */
int state_write(const struct part *part, const char *path, const double *cells, int64_t step);

/* Reads this part's cells and the file's step. Returns 0, or -1 with a line on stderr. */
int state_read(const struct part *part, const char *path, double *cells, int64_t *step);

/* ---- gather.c ---- */

/*
 * Gathers @edge x @edge cells of the whole chip, at even distances, on rank 0. Rank 0 frees *@cells
 * with free(). *@cells is NULL on the other ranks, and after an error. Returns 0, or -1 with a line
 * on stderr.
 */
int gather(const struct part *part, int64_t edge, double **cells);

/* ---- offload.c ---- */

struct part_run {
    int device;        /* in */
    int64_t first;     /* in: number of steps before the run */
    int64_t steps;     /* in: number of the last step */
    const char *save;  /* in: file for the state; NULL: write no file */
    bool through_host; /* in: MPI uses no device pointers */
    int64_t every;     /* in: steps between two files; 0: write only at the end */
    int64_t launches;  /* out: number of launches of this rank */
    double seconds;    /* out: time of the whole run */
    double halo;       /* out: seconds of an exchange during which no kernel runs */
    double waited;     /* out: seconds that a device waited for an exchange, on average */
    double coldest;    /* out: lowest temperature of the whole chip */
    double hottest;    /* out: highest */
};

/* Replaces part->temp by the last temperatures. Returns 0, or -1 with a line on stderr. */
int simulate_part(struct part *part, struct part_run *run);

#endif
