/* The kernel of the shared object. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(triple, rex_arg count, int64_t *x)
{
    REX_FOR(i, rex_arg_int(count))
        x[i] *= 3;
}
