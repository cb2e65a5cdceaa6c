/*
 * heat.f90's device side. Fortran stores columns one after another: cell (i, j) is at j * n + i.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(heat_step, (int64_t) n, (const double *) source, (const double *) old,
                  (double *) new_)
{
    REX_FOR_2D(j, n - 2, i, n - 2)
    {
        int64_t at = (j + 1) * n + i + 1;
        new_[at] = source[at] + 0.25 * (old[at - 1] + old[at + 1] + old[at - n] + old[at + n]);
    }
}
