/* Kernels of the benchmark of several GPUs. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(empty, (int64_t) unused)
{
    (void)unused;
}

/* A step of heat on @rows rows. One more row lies before the first one, and one after the last. */
REX_DEVICE_KERNEL(heat, (int64_t) columns, (int64_t) rows, (const double *) now, (double *) next)
{
    REX_FOR_TEAMS(row, rows) {
        const double *here = now + (row + 1) * columns;
        double *out = next + (row + 1) * columns;
        REX_FOR_THREADS(i, columns) {
            double west = here[i > 0 ? i - 1 : i], east = here[i < columns - 1 ? i + 1 : i];
            out[i] = 0.2 * (here[i] + west + east + here[i - columns] + here[i + columns]);
        }
    }
}
