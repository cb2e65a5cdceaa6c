/*
 * hotspot_mpi, the device side: the stencil on one rank's part of the chip, and the extremes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "sides.h"

/*
 * Computes one time step of hotspot's model (../hotspot/kernels.cu) on a part of @rows x @columns
 * cells, in two launches. With @is_inner it computes the inner cells, which need no neighbouring
 * part; else the cells at the part's edges. All cells run one code, so a cell's bits do not depend
 * on the number of parts.
 *
 * @now and @next have one row of a neighbour's cells above the part and one below. A neighbour's
 * column is not contiguous, so @from_sides has the columns of the left and of the right neighbour.
 * The part's own first and last column are stored in @to_sides for the next exchange. @sides has a
 * bit for each neighbour. At the chip's edge the missing cell is the cell itself, so no heat flows.
 * @gain is step / capacity, @lateral 1 / R, @vertical 1 / Rz.
 */
REX_DEVICE_KERNEL(hotspot_part, (int64_t) rows, (int64_t) columns, (int64_t) sides,
                  (int64_t) is_inner, (double) gain, (double) lateral, (double) vertical,
                  (double) ambient, (const double *) power, (const double *) now, (double *) next,
                  (const double *) from_sides, (double *) to_sides)
{
    REX_FOR_TEAMS(row, rows) {
        bool is_edge = row == 0 || row == rows - 1;
        if (is_inner && is_edge)
            continue;
        const double *here = now + (row + 1) * columns;
        const double *north = row > 0 || (sides & NORTH) ? here - columns : here;
        const double *south = row < rows - 1 || (sides & SOUTH) ? here + columns : here;
        /* In the other rows only the first and the last cell are at an edge. */
        int64_t stride = is_inner || is_edge || columns == 1 ? 1 : columns - 1;
        int64_t begin = is_inner ? 1 : 0, end = is_inner ? columns - 1 : columns;
        for (int64_t column = begin + rex_thread(0) * stride; column < end;
             column += rex_num_threads(0) * stride) {
            double own = here[column];
            double west = column > 0 ? here[column - 1] : (sides & WEST) ? from_sides[row] : own;
            double east = column < columns - 1 ? here[column + 1]
                          : (sides & EAST)     ? from_sides[rows + row]
                                               : own;
            double in_plane = north[column] + south[column] + west + east - 4.0 * own;
            double watts =
                power[row * columns + column] + in_plane * lateral + (ambient - own) * vertical;
            double value = own + gain * watts;
            next[(row + 1) * columns + column] = value;
            if (column == 0)
                to_sides[row] = value;
            if (column == columns - 1)
                to_sides[rows + row] = value;
        }
    }
}

/* Finds the least temperature and the least negated one, so that MPI_MIN serves for both. */
REX_DEVICE_KERNEL(hotspot_part_extremes, (int64_t) rows, (int64_t) columns, (const double *) temp,
                  (double *) extremes)
{
    int64_t count = rows * columns;
    const double *cells = temp + columns;
    REX_FOR_MIN(i, count, &extremes[0], cells[i]);
    REX_FOR_MIN(i, count, &extremes[1], -cells[i]);
}
