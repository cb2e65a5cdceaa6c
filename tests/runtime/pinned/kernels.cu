/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add_one, rex_arg n, int64_t *values)
{
    REX_FOR(i, rex_arg_int(n))
        values[i]++;
}
