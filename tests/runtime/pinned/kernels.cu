/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add_one, (int64_t) n, (int64_t *) values)
{
    REX_FOR(i, n)
        values[i]++;
}
