/*
 * nn_raw, the device side, by the names of generated code. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* The squares of the distances of a window's records. */
REX_DEVICE_KERNEL_STEM(OUT__1__distances__33__, rex_arg rec_count, rex_arg target_lat, rex_arg target_long, const double *lat,
                       const double *lng, double *z)
{
    REX_FOR(i, rex_arg_int32(rec_count)) {
        double down = lat[i] - rex_arg_double(target_lat);
        double across = lng[i] - rex_arg_double(target_long);
        z[i] = down * down + across * across;
    }
}
