/* Kernels that do nothing, for counting what surrounds them. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#define NOTHING                                                                                                        \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)d;                                                                            \
    }

REX_DEVICE_KERNEL(bench_0, (int64_t) a, (double) b, (const double *) c, (double *) d) NOTHING
REX_DEVICE_KERNEL(bench_1, (int64_t) a, (double) b, (const double *) c, (double *) d) NOTHING
REX_DEVICE_KERNEL(bench_2, (int64_t) a, (double) b, (const double *) c, (double *) d) NOTHING
REX_DEVICE_KERNEL(bench_3, (int64_t) a, (double) b, (const double *) c, (double *) d) NOTHING
