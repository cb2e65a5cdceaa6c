/*
 * The names of 200 kernels, k100 to k299, and their body; FACTOR tells the images apart.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REREGISTER_KERNELS_H
#define REREGISTER_KERNELS_H

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                                                  \
    TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4)                                                   \
    TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define KERNELS(X) HUNDRED(X, 1) HUNDRED(X, 2)

#ifdef FACTOR
#include <rex/kernel.h>

#define KERNEL(n)                                                                                                      \
    REX_DEVICE_KERNEL(k##n, (int64_t) value, (int64_t *) result)                                                            \
    {                                                                                                                  \
        if (rex_team(0) + rex_thread(0) == 0)                                                                          \
            *result = value * FACTOR + n;                                                                 \
    }
KERNELS(KERNEL)
#endif

#endif
