/*
 * nn_raw, the device side, with the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Computes the squares of the distances of a window's records. */
REX_DEVICE_KERNEL_STEM(OUT__1__distances__33__, (int32_t) rec_count, (double) target_lat,
                       (double) target_long, (const double *) lat, (const double *) lng,
                       (double *) z)
{
    REX_FOR(i, rec_count) {
        double down = lat[i] - target_lat;
        double across = lng[i] - target_long;
        z[i] = down * down + across * across;
    }
}
