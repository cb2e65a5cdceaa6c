/* What the host and the kernels of maps know. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdint.h>

struct full {
    int32_t first;
    float second;
};

struct big {
    int64_t number[200]; /* more than the 1024 bytes that libomptarget packs together */
};

struct inner {
    int64_t count;
    int64_t *values;
};

struct outer {
    int64_t bonus;
    struct inner inner;
    struct inner *next;
};

#endif
