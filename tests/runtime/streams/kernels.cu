/* The kernel of the test of streams. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/* Slow enough that what does not wait for it comes too early. */
REX_DEVICE_KERNEL(add_slowly, (int64_t) n, (int64_t) turns, (double *) y)
{
    REX_FOR(i, n)
    {
        double sum = y[i];
        for (int64_t turn = 0; turn < turns; turn++)
            sum += 1.0;
        y[i] = sum;
    }
}
