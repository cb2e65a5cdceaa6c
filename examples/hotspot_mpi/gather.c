/*
 * gather.c - the whole chip on rank 0.
 *
 * Each rank fills in its own cells, and -infinity for the cells of others. The maximum over all
 * ranks is the whole chip.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hotspot_mpi.h"

static void put_own(const struct part *part, int64_t edge, double *cells)
{
    const struct rectangle *own = &part->cells;
    const double *temp = part_cells(part, part->temp);
    for (int64_t y = 0; y < edge; y++)
        for (int64_t x = 0; x < edge; x++) {
            int64_t row = y * part->chip.size / edge - own->top,
                    column = x * part->chip.size / edge - own->left;
            bool is_own = row >= 0 && row < own->rows && column >= 0 && column < own->columns;
            cells[y * edge + x] = is_own ? temp[row * own->columns + column] : -INFINITY;
        }
}

int gather(const struct part *part, int64_t edge, double **cells)
{
    size_t count = (size_t)(edge * edge);
    double *known = malloc(count * sizeof *known),
           *whole = part->rank == 0 ? malloc(count * sizeof *whole) : NULL;
    *cells = NULL;
    if (known == NULL || (part->rank == 0 && whole == NULL)) {
        fprintf(stderr, "hotspot_mpi: rank %d: out of memory for %zu cells\n", part->rank, count);
        free(known);
        free(whole);
        return -1;
    }
    put_own(part, edge, known);
    MPI_Reduce(known, whole, (int)count, MPI_DOUBLE, MPI_MAX, 0, part->grid);
    free(known);
    *cells = whole;
    return 0;
}
