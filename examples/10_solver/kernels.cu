/*
 * Lesson 10, the device side: the four steps of conjugate gradients.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* y = A x. The entries of row i of A are those from first[i] to first[i + 1]. */
REX_DEVICE_KERNEL(multiply, (int64_t) rows, (const int64_t *) first, (const int64_t *) column,
                  (const double *) value, (const double *) x, (double *) y)
{
    REX_FOR(row, rows) {
        double sum = 0;
        for (int64_t i = first[row]; i < first[row + 1]; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}

/* *sum += x . y */
REX_DEVICE_KERNEL(dot, (int64_t) n, (const double *) x, (const double *) y, (double *) sum)
{
    REX_FOR_SUM(i, n, sum, x[i] * y[i]);
}

/* y += factor x */
REX_DEVICE_KERNEL(add, (int64_t) n, (double) factor, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += factor * x[i];
}

/* p = r + factor p */
REX_DEVICE_KERNEL(turn, (int64_t) n, (double) factor, (const double *) r, (double *) p)
{
    REX_FOR(i, n)
        p[i] = r[i] + factor * p[i];
}
