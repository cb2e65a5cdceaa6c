/* The kernel of the test of streams. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/* Slow enough that what does not wait for it comes too early. */
REX_DEVICE_KERNEL(add_slowly, rex_arg n, rex_arg turns, double *y)
{
    REX_FOR(i, rex_arg_int(n))
    {
        double sum = y[i];
        for (int64_t turn = 0; turn < rex_arg_int(turns); turn++)
            sum += 1.0;
        y[i] = sum;
    }
}
