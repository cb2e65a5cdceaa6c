/*
 * hotspot_mpi.h - what the files of the program share. See hotspot_mpi.c.
 *
 *   part.c     which part of the chip is this rank's, and who its neighbours are.
 *   offload.c  the device run: a queue of steps, and one of exchanges beside it.
 *   halo.c     the exchange with the neighbours.
 *   state.c    the file to go on from.
 *   gather.c   the whole chip on rank 0, to check and to draw.
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
    struct chip chip; /* the whole */
    struct rectangle cells;
    MPI_Comm grid; /* of all ranks */
    int rank, ranks;
    int parts[2];          /* down, across */
    int neighbours[SIDES]; /* north, south, west, east; MPI_PROC_NULL at the edge of the chip */
    double *power;         /* of the part's cells */
    double *temp;          /* likewise, with a row more above and below; pinned */
};

/*
 * Divides @size x @size cells among all ranks. 0, or -1 and a line on stderr. part_free() always.
 */
int part_make(struct part *part, int64_t size);
void part_free(struct part *part);

/* The part's first cell in a field with a row more above: row by row from there. */
double *part_cells(const struct part *part, double *field);

/* ---- state.c: the whole chip's temperatures in one file, whatever the number of ranks ---- */

/* All ranks write it; until it is whole, an older file stays. 0, or -1 with a line on stderr. */
int state_write(const struct part *part, const char *path, const double *cells, int64_t step);

/* Reads this part's cells, and the step that the file is of. Likewise. */
int state_read(const struct part *part, const char *path, double *cells, int64_t *step);

/* ---- gather.c ---- */

/*
 * Gathers @edge x @edge cells of the whole chip, at even distances, on rank 0, which frees them
 * with free(). On the others and on failure, NULL; -1 with the reason on stderr for the latter.
 */
int gather(const struct part *part, int64_t edge, double **cells);

/* ---- offload.c ---- */

struct part_run {
    int device;        /* in */
    int64_t first;     /* in: the step that it begins with */
    int64_t steps;     /* in: up to this one */
    const char *save;  /* in: where the state goes; NULL: nowhere */
    bool through_host; /* in: MPI gets no device pointers */
    int64_t every;     /* in: steps between two files; one at the end in any case */
    int64_t launches;  /* out: of this rank */
    double seconds;    /* out: all of it */
    double halo;       /* out: seconds of an exchange that nothing runs beside */
    double waited;     /* out: seconds that a device waited for one, the mean */
    double coldest;    /* out: of the whole chip */
    double hottest;    /* out */
};

/* Runs the steps; part->temp becomes the last temperatures. 0, or -1 with a line on stderr. */
int simulate_part(struct part *part, struct part_run *run);

#endif
