/* One kernel for each entry of the test; all do the same. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#define ADD                                                                                                            \
    {                                                                                                                  \
        REX_FOR(i, 1)                                                                                                  \
            x[i] += by;                                                                                   \
    }

#ifdef FOR_OBJECT
REX_DEVICE_KERNEL(in_object, (int64_t) by, (int64_t *) x) ADD
REX_DEVICE_KERNEL_STEM(OUT__9__object__5__, (int64_t) by, (int64_t *) x) ADD
#else
REX_DEVICE_GLOBAL(int64_t, entries_global) = 0;
REX_DEVICE_KERNEL(first, (int64_t) by, (int64_t *) x) ADD
REX_DEVICE_KERNEL_STEM(OUT__1__solve__17__, (int64_t) by, (int64_t *) x) ADD
REX_DEVICE_KERNEL_STEM(OUT__2__smooth__20__, (int64_t) by, (int64_t *) x) ADD
REX_DEVICE_KERNEL_STEM(OUT__3__smooth__31__, (int64_t) by, (int64_t *) x) ADD
/* Takes the device's copy of the global into account. */
REX_DEVICE_KERNEL(second, (int64_t) by, (int64_t *) x)
{
    REX_FOR(i, 1)
        x[i] += by + entries_global;
}
#endif
