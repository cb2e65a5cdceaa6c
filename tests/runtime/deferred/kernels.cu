/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/*
 * Stays until the program sets the word at RELEASE, in memory that both see. It is no pointer, and
 * the CUDA driver has pinned it: librex does not know that the host may see this memory.
 */
REX_DEVICE_KERNEL(hold, (int64_t) release, (int64_t *) value)
{
#if REX_ON_GPU
    while (*(const volatile int64_t *)release == 0) {
    }
#else
    (void)release;
#endif
    *value += 1;
}

REX_DEVICE_KERNEL(add, (int64_t) by, (int64_t *) value)
{
    *value += by;
}

REX_DEVICE_KERNEL(triple, (int64_t *) value)
{
    *value *= 3;
}

/* Writes 1 to an address that is passed as a number: the host's, or one where no memory is. */
REX_DEVICE_KERNEL(set, (int64_t) address)
{
    *(volatile int64_t *)(uintptr_t)address = 1;
}
