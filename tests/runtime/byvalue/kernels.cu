/*
 * Parameters of other widths than 8 bytes, which only the CUDA driver can pass: the host device has a kernel of the same name
 * whose parameters are 8 bytes each.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "triple.h"

#if REX_ON_GPU
extern "C" __global__ void narrow__kernel__(int a, float b, int16_t c, double *out)
{
    out[0] = a, out[1] = b, out[2] = c;
}

extern "C" __global__ void wide__kernel__(char before, struct triple triple, int after, double *out)
{
    out[0] = before, out[1] = triple.x, out[2] = triple.y, out[3] = triple.z, out[4] = after;
}
#else
REX_DEVICE_KERNEL(narrow, (int) a, (float) b, (int16_t) c, (double *) out)
{
    out[0] = a, out[1] = b, out[2] = c;
}

REX_DEVICE_KERNEL(wide, (char) before, (const struct triple *) triple, (int) after, (double *) out)
{
    (void)before, (void)triple, (void)after, (void)out;
}
#endif
