/*
 * gaussian, the device side: two kernels set a column to zero below the diagonal, and a third one
 * solves for an unknown. See gaussian.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Computes, for each row below row `step`, the multiple of row `step` to subtract from it. */
REX_DEVICE_KERNEL(gaussian_fan1, (int64_t) size, (int64_t) step, (const double *) matrix,
                  (double *) multiplier)
{
    REX_FOR(i, size - 1 - step) {
        int64_t row = step + 1 + i;
        multiplier[row] = matrix[row * size + step] / matrix[step * size + step];
    }
}

/*
 * Subtracts the multiples of row `step` from the rows below, also in the right-hand side. Teams
 * take rows and threads take columns, so neighbouring threads write neighbouring addresses. The
 * grid has one dimension, because some LLVM releases launch no other.
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
 * Solves row `step` of a triangular system for its unknown, and subtracts its product from the
 * right-hand side of the rows above. The later unknowns are already subtracted. Every thread
 * computes the unknown itself, from numbers that no thread writes.
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
