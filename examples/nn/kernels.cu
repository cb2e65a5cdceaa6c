/*
 * nn, the device side: how far each record of a window is away. See nn.c.
 *
 * The square of the distance: it puts records in the same order, and the host takes roots.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "place.h"

REX_DEVICE_KERNEL(nn_distances, (int64_t) count, (double) target_latitude,
                  (double) target_longitude, (const struct place *) places, (double *) squared)
{
    REX_FOR(i, count) {
        double down = places[i].latitude - target_latitude;
        double across = places[i].longitude - target_longitude;
        squared[i] = down * down + across * across;
    }
}
