/*
 * A kernel that says it ran, and a host image that says it was loaded. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#if !REX_ON_GPU
#include <stdlib.h>

__attribute__((constructor)) static void loaded(void)
{
    setenv("REX_TEST_LOADED", "yes", 1);
}
#endif

REX_DEVICE_KERNEL(add, (int64_t) amount, (int64_t *) sum)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *sum += amount;
}
