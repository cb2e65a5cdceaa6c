/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_GLOBAL(int64_t, base) = 500;
typedef struct {
    double values[8];
} table;
REX_DEVICE_GLOBAL(table, weights);

/* result = base + value */
REX_DEVICE_KERNEL(shift, (int64_t) value, (int64_t *) result)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *result = base + value;
}

/* Sum of the weights, which become twice what they were. */
REX_DEVICE_KERNEL(weigh, (double *) result)
{
    if (rex_team(0) + rex_thread(0) != 0)
        return;
    double sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += weights.values[i];
        weights.values[i] *= 2;
    }
    *result = sum;
}

REX_DEVICE_KERNEL_ENV(enveloped, (int64_t) value, (int64_t *) result)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *result = 2 * value;
}
