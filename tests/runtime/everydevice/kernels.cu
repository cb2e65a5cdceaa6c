/* Kernels of the test of several devices. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/* Each result depends on the one before it, and on memory that every device has a copy of: order shows, and whose copy it was. */
REX_DEVICE_KERNEL(follow, (int64_t) n, (int64_t) step, (const int64_t *) addend, (int64_t *) value)
{
    REX_FOR(i, n)
        value[i] = (3 * value[i] + addend[step]) % 1000003;
}

/* As long as a copy takes, and longer: what does not wait for it comes too early. */
REX_DEVICE_KERNEL(slow, (int64_t) turns, (int64_t *) value)
{
    REX_FOR(i, 1) {
        int64_t result = value[0];
        for (int64_t turn = 0; turn < turns; turn++)
            result = (3 * result + turn) % 1000003;
        value[0] = result;
    }
}
