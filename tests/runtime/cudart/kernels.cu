/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, rex_arg value, int64_t *values, rex_arg count)
{
    REX_FOR(i, rex_arg_int(count))
        values[i] += rex_arg_int(value);
}
