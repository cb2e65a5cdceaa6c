/*
 * Lesson 5, the device side: one number out of many.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Each thread sums its own products. At the end the threads add their sums to *sum. */
REX_DEVICE_KERNEL(dot, (int64_t) count, (const double *) x, (const double *) y, (double *) sum)
{
    REX_FOR_SUM(i, count, sum, x[i] * y[i]);
}

REX_DEVICE_KERNEL(extremes, (int64_t) count, (const double *) x, (double *) least, (double *) most)
{
    REX_FOR_MIN(i, count, least, x[i]);
    REX_FOR_MAX(i, count, most, x[i]);
}

/* Counts each digit. Two threads may add to one counter at once, so the addition is atomic. */
REX_DEVICE_KERNEL(histogram, (int64_t) count, (const int *) digit, (unsigned *) how_often)
{
    REX_FOR(i, count)
        rex_atomic_add(&how_often[digit[i]], 1);
}

enum { PART = 256 };

/*
 * Sums each part by one team, in memory that the team's threads share. Each step adds the upper
 * half of the values to the lower half, and a barrier ends it. On the CPU a team is one thread,
 * which does all additions.
 */
REX_DEVICE_KERNEL(sums_of_parts, (int64_t) parts, (const double *) x, (double *) sums)
{
    REX_FOR_TEAMS(part, parts) {
        REX_SHARED double left[PART];
        REX_FOR_THREADS(i, PART)
            left[i] = x[part * PART + i];
        rex_barrier();
        for (int64_t half = PART / 2; half > 0; half /= 2) {
            REX_FOR_THREADS(i, half)
                left[i] += left[i + half];
            rex_barrier();
        }
        if (rex_thread(0) == 0)
            sums[part] = left[0];
        rex_barrier(); /* before the next part overwrites this one */
    }
}
