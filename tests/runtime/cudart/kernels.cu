/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, (int64_t) value, (int64_t *) values, (int64_t) count)
{
    REX_FOR(i, count)
        values[i] += value;
}
