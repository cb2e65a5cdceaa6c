/*
 * The device side of axpy.rs. It does not depend on the language of the host.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}
