/* The kernels of micro.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "micro.h"

REX_DEVICE_KERNEL(micro_nothing, void)
{
}

REX_DEVICE_KERNEL(micro_axpy_kernel, (int64_t) n, (double) factor, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += factor * x[i];
}

/* Only the first of them is used. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define P4(P, n) P(a##n##0), P(a##n##1), P(a##n##2), P(a##n##3)
#define P16(P, n) P4(P, n##0), P4(P, n##1), P4(P, n##2), P4(P, n##3)
#define P64(P, n) P16(P, n##0), P16(P, n##1), P16(P, n##2), P16(P, n##3)
#define TYPED(name) (double *) name
REX_DEVICE_KERNEL(micro_16, P16(TYPED, _))
{
    *a_00 += 1;
}
REX_DEVICE_KERNEL(micro_64, P64(TYPED, _))
{
    *a_000 += 1;
}

/* More than REX_DEVICE_KERNEL() declares. The CPU passes those behind the first in vain. */
#if REX_ON_GPU
#define OWN(name) double *name
extern "C" __global__ void micro_256__kernel__(P64(OWN, _0), P64(OWN, _1), P64(OWN, _2), P64(OWN, _3))
{
    *a_0000 += 1;
}
#else
REX_DEVICE_LINKAGE void micro_256__kernel__(uint64_t a);
REX_DEVICE_ENTRY(micro_256__kernel__, &micro_256__kernel__, 0)
REX_DEVICE_BODY(micro_256__, (double *) a)
{
    *a += 1;
}
REX_DEVICE_CALL(micro_256__kernel__, micro_256__, (double *) a)
void micro_256__kernel__(uint64_t a)
{
    micro_256__body__((void *)0, (double *)(uintptr_t)a);
}
#endif
