/*
 * Parameters of other widths than 8 bytes, which only the CUDA driver can pass: the host device has a kernel of the same name
 * whose parameters are 8 bytes each.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "triple.h"

#if REX_ON_GPU
REX_DEVICE_KERNEL(narrow, int a, float b, int16_t c, double *out)
{
    out[0] = a, out[1] = b, out[2] = c;
}

REX_DEVICE_KERNEL(wide, char before, struct triple triple, int after, double *out)
{
    out[0] = before, out[1] = triple.x, out[2] = triple.y, out[3] = triple.z, out[4] = after;
}
#else
REX_DEVICE_KERNEL(narrow, rex_arg a, rex_arg b, rex_arg c, double *out)
{
    int16_t last;
    REX_ARG_COPY(last, c);
    out[0] = rex_arg_int32(a), out[1] = rex_arg_float(b), out[2] = last;
}

REX_DEVICE_KERNEL(wide, rex_arg before, rex_arg triple, rex_arg after, double *out)
{
    (void)before, (void)triple, (void)after, (void)out;
}
#endif
