/*
 * nn, the device side: the distance of each record of a window. See nn.c.
 *
 * The kernel computes squares of distances, which order the records like distances. The host takes
 * the roots.
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
