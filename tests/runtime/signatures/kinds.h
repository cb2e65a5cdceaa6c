/* What the host and the kernels of signatures know. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KINDS_H
#define KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct few {
    int16_t a, b;
};

/* A floating-point number of 16 bits, where the compiler has one. */
#if defined __NVCC__
#include <cuda_fp16.h>
typedef __half half_number;
#define HAS_HALF 1
#elif defined __FLT16_MAX__ && (!defined __cplusplus || defined __clang__ || __GNUC__ >= 13)
__extension__ typedef _Float16 half_number;
#define HAS_HALF 1
#else
typedef struct {
    uint16_t bits;
} half_number;
#define HAS_HALF 0
#endif

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
