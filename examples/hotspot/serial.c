/*
 * serial.c - hotspot's simulation on the host, to check the device run.
 *
 * It shares no code with kernels.cu. Like Rodinia's OpenMP version it sums the heat that flows into
 * a cell, from the neighbours that the cell has.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "hotspot.h"

/* Returns the sum of the temperature differences between a cell and its neighbours. */
static double difference_to_neighbours(const double *temp, int64_t size, int64_t row,
                                       int64_t column)
{
    const double *cell = &temp[row * size + column];
    double sum = 0.0;
    if (row > 0)
        sum += cell[-size] - *cell;
    if (row < size - 1)
        sum += cell[size] - *cell;
    if (column > 0)
        sum += cell[-1] - *cell;
    if (column < size - 1)
        sum += cell[1] - *cell;
    return sum;
}

static void serial_step(const struct chip *model, const double *power, const double *old,
                        double *new)
{
    const struct chip chip = *model; /* a local copy, which the compiler can keep in registers */
    for (int64_t row = 0; row < chip.size; row++)
        for (int64_t column = 0; column < chip.size; column++) {
            int64_t cell = row * chip.size + column;
            double watts = power[cell] +
                           difference_to_neighbours(old, chip.size, row, column) / chip.resistance +
                           (AMBIENT - old[cell]) / chip.to_ambient;
            new[cell] = old[cell] + watts * chip.step / chip.capacity;
        }
}

int simulate_serially(const struct chip *chip, const double *power, double *temp, int iterations)
{
    size_t bytes = (size_t)(chip->size * chip->size) * sizeof *temp;
    double *new = malloc(bytes);
    if (new == NULL)
        return -1;
    double *old = temp, *spare = new;
    for (int i = 0; i < iterations; i++) {
        serial_step(chip, power, old, spare);
        double *swap = old;
        old = spare;
        spare = swap;
    }
    if (old != temp)
        memcpy(temp, old, bytes);
    free(new);
    return 0;
}
