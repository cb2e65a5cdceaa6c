/*
 * serial.c - hotspot_raw on the host: the reference for its check, in double precision.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "serial.h"

/* Returns the heat that flows into the cell from the cell at @offset, or 0 without a cell there. */
static double flow_from(const double *cell, int there_is, int offset)
{
    return there_is ? (cell[offset] - *cell) / 8.0 : 0.0;
}

void simulate_serially(const float *power, double *temp, double *scratch, int size, int steps)
{
    for (int i = 0; i < steps; i++) {
        for (int row = 0; row < size; row++)
            for (int column = 0; column < size; column++) {
                const double *cell = &temp[row * size + column];
                double heat = (double)power[row * size + column] + (80.0 - *cell) / 100.0;
                heat += flow_from(cell, row > 0, -size) + flow_from(cell, row < size - 1, size);
                heat += flow_from(cell, column > 0, -1) + flow_from(cell, column < size - 1, 1);
                scratch[row * size + column] = *cell + heat;
            }
        for (int cell = 0; cell < size * size; cell++)
            temp[cell] = scratch[cell];
    }
}
