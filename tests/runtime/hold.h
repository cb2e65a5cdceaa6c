/* hold.h - the kernel of tests that need unfinished work. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_HOLD_H
#define REX_TESTS_HOLD_H

#include <rex/kernel.h>

/* Waits until the program says so, in memory that both see; on the host device there is nobody to say it. */
REX_DEVICE_KERNEL(hold, (const volatile int64_t *) release, (int64_t *) value)
{
#if REX_ON_GPU
    while (*release == 0) {
    }
#else
    (void)release;
#endif
    *value += 1;
}

#endif
