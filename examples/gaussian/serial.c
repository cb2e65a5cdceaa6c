/*
 * serial.c - gaussian on the host: the reference for the check. It finishes one row at a time, by
 * sums of products. The kernels finish one column at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>

#include "gaussian.h"

/* Computes row @row of L and U in place. The diagonal of L is 1 and is not stored. */
static void factor_row(struct equations *system, int64_t row)
{
    double *here = system->matrix + row * system->size;
    for (int64_t k = 0; k < row; k++) {
        const double *above = system->matrix + k * system->size;
        here[k] /= above[k];
        for (int64_t column = k + 1; column < system->size; column++)
            here[column] -= here[k] * above[column];
        system->right[row] -= here[k] * system->right[k];
    }
}

int64_t solve_serially(struct equations *system, double *solution)
{
    int64_t size = system->size;
    for (int64_t row = 0; row < size; row++) {
        factor_row(system, row);
        if (system->matrix[row * size + row] == 0.0)
            return row;
    }
    for (int64_t row = size - 1; row >= 0; row--) {
        double sum = system->right[row];
        for (int64_t column = row + 1; column < size; column++)
            sum -= system->matrix[row * size + column] * solution[column];
        solution[row] = sum / system->matrix[row * size + row];
    }
    return -1;
}

double residual(const struct equations *system, const double *solution)
{
    double largest = 0.0, scale = 0.0;
    for (int64_t row = 0; row < system->size; row++) {
        double sum = -system->right[row];
        scale = fmax(scale, fabs(sum));
        for (int64_t column = 0; column < system->size; column++) {
            double term = system->matrix[row * system->size + column] * solution[column];
            scale = fmax(scale, fabs(term));
            sum += term;
        }
        /* Not fmax(), which ignores NaN. */
        if (!(fabs(sum) <= largest))
            largest = fabs(sum);
    }
    return scale > 0.0 ? largest / scale : largest;
}
