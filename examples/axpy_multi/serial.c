/*
 * serial.c - axpy_multi on the host: the reference for the check. It computes all rounds of one
 * element before the next element. The device computes one step for all elements before the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "axpy_multi.h"

void run_serially(struct vectors vectors, int rounds)
{
    for (int64_t i = 0; i < vectors.count; i++) {
        double x = vectors.x[i], y = vectors.y[i];
        for (int round = 0; round < rounds; round++) {
            x = x * SCALE;
            y = y + (FIRST + SECOND) * x + BIAS;
        }
        vectors.x[i] = x;
        vectors.y[i] = y;
    }
}
