/*
 * part.c - the rank's part of the chip.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "hotspot_mpi.h"

/* Makes a grid of all ranks, as square as possible, and finds this rank's place and neighbours. */
static void find_place(struct part *part, int place[2])
{
    const int wraps[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &part->ranks);
    part->parts[0] = part->parts[1] = 0;
    MPI_Dims_create(part->ranks, 2, part->parts);
    MPI_Cart_create(MPI_COMM_WORLD, 2, part->parts, wraps, 0, &part->grid);
    MPI_Comm_rank(part->grid, &part->rank);
    MPI_Cart_coords(part->grid, part->rank, 2, place);
    for (int dimension = 0; dimension < 2; dimension++)
        MPI_Cart_shift(part->grid, dimension, 1, &part->neighbours[2 * dimension],
                       &part->neighbours[2 * dimension + 1]);
}

int part_make(struct part *part, int64_t size)
{
    int place[2];
    *part = (struct part){.chip = chip_model(size)};
    find_place(part, place);
    if (size < part->parts[0] || size < part->parts[1]) {
        if (part->rank == 0)
            fprintf(stderr, "hotspot_mpi: %lld x %lld cells are too few for %d x %d ranks\n",
                    (long long)size, (long long)size, part->parts[0], part->parts[1]);
        return -1;
    }
    struct rectangle *cells = &part->cells;
    cells->top = part_begin(size, place[0], part->parts[0]);
    cells->left = part_begin(size, place[1], part->parts[1]);
    cells->rows = part_begin(size, place[0] + 1, part->parts[0]) - cells->top;
    cells->columns = part_begin(size, place[1] + 1, part->parts[1]) - cells->left;
    part->power = malloc((size_t)(cells->rows * cells->columns) * sizeof(double));
    part->temp = rex_host_alloc((size_t)((cells->rows + 2) * cells->columns) * sizeof(double));
    if (part->power == NULL || part->temp == NULL) {
        fprintf(stderr, "hotspot_mpi: rank %d: out of memory for %lld x %lld cells\n", part->rank,
                (long long)cells->rows, (long long)cells->columns);
        return -1;
    }
    generate_part(&part->chip, cells, part_cells(part, part->temp), part->power);
    return 0;
}

void part_free(struct part *part)
{
    free(part->power);
    rex_host_free(part->temp);
    MPI_Comm_free(&part->grid);
}

double *part_cells(const struct part *part, double *field)
{
    return field + part->cells.columns;
}
