/* The kernel of regions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, rex_arg count, rex_arg by, int32_t *x)
{
    REX_FOR(i, rex_arg_int(count))
        x[i] += rex_arg_int32(by);
}
