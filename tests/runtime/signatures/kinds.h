/* What the host and the kernels of signatures know. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KINDS_H
#define KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct few {
    int16_t a, b;
};

enum color { RED, GREEN, BLUE = -5 };

/* X(type, name) for each type of scalars. */
#define EACH_SCALAR(X)    \
    X(int8_t, int8_t)     \
    X(uint8_t, uint8_t)   \
    X(int16_t, int16_t)   \
    X(uint16_t, uint16_t) \
    X(int, int)           \
    X(unsigned, unsigned) \
    X(int64_t, int64_t)   \
    X(uint64_t, uint64_t) \
    X(float, float)       \
    X(double, double)     \
    X(bool, bool)

#endif
