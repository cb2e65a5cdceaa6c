/*
 * hotspot_raw, the device side, with the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Takes one step: power heats a cell, and neighbours and surroundings of 80 degrees cool it. */
REX_DEVICE_KERNEL_STEM(OUT__1__simulate__31__, (int32_t) n, (const float *) power,
                       (const float *) temp, (float *) result)
{
    int64_t size = n;
    REX_FOR(cell, size * size) {
        int64_t row = cell / size, column = cell % size;
        float own = temp[cell];
        float north = row > 0 ? temp[cell - size] : own;
        float south = row < size - 1 ? temp[cell + size] : own;
        float west = column > 0 ? temp[cell - 1] : own;
        float east = column < size - 1 ? temp[cell + 1] : own;
        result[cell] = own + power[cell] + 0.125f * (north + south + west + east - 4.0f * own) +
                       0.01f * (80.0f - own);
    }
}

/* Copies the result, from which the next step starts. */
REX_DEVICE_KERNEL_STEM(OUT__2__simulate__42__, (int32_t) n, (const float *) result, (float *) temp)
{
    int64_t size = n;
    REX_FOR(cell, size * size)
        temp[cell] = result[cell];
}
