/*
 * gaussian, the device side: the two kernels that make a column zero below the diagonal, and the
 * one that solves for an unknown. See gaussian.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* How many times row `step` each row below it contains: one number for each of these rows. */
REX_DEVICE_KERNEL(gaussian_fan1, (int64_t) size, (int64_t) step, (const double *) matrix,
                  (double *) multiplier)
{
    REX_FOR(i, size - 1 - step) {
        int64_t row = step + 1 + i;
        multiplier[row] = matrix[row * size + step] / matrix[step * size + step];
    }
}

/*
 * Takes that many times row `step` off each row below, and off the right-hand side. Teams take rows
 * and threads take the columns of a row: neighbouring threads write neighbouring addresses, and the
 * grid has one dimension, all that some LLVM releases launch.
 */
REX_DEVICE_KERNEL(gaussian_fan2, (int64_t) size, (int64_t) step, (const double *) multiplier,
                  (double *) matrix, (double *) right)
{
    const double *pivot_row = matrix + step * size;
    REX_FOR_TEAMS(i, size - 1 - step) {
        int64_t row = step + 1 + i;
        double times = multiplier[row];
        double *here = matrix + row * size;
        for (int64_t column = step + rex_thread(0); column < size; column += rex_num_threads(0))
            here[column] -= times * pivot_row[column];
        if (rex_thread(0) == 0)
            right[row] -= times * right[step];
    }
}

/*
 * Solves row `step` of a triangular system for its unknown, and takes it off the rows above. All
 * later unknowns have been taken off the right-hand side before. Every thread works it out for
 * itself from numbers that no thread writes.
 */
REX_DEVICE_KERNEL(gaussian_back, (int64_t) size, (int64_t) step, (const double *) matrix,
                  (double *) right, (double *) solution)
{
    double value = right[step] / matrix[step * size + step];
    REX_FOR(row, step + 1) {
        if (row < step)
            right[row] -= matrix[row * size + step] * value;
        else
            solution[row] = value;
    }
}
