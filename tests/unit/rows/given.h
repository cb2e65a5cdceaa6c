/*
 * given.h - what rows/rows.h makes rows of.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef GIVEN_H
#define GIVEN_H

#include <rex.h>

struct pair {
    float x, y;
};

struct given {
    char before;
    double array[8];
    int64_t n;
    double *data;
    struct pair pair;
    int64_t after;
    int evaluations; /* of what was counted */
    int made;        /* by rex_map_build() */
    struct rex_map built;
    uintptr_t matrix; /* where it was */
};

#ifdef __cplusplus
extern "C" {
#endif
int32_t rows_c11(struct rex_row *to, struct given *given);
int32_t rows_cxx11(struct rex_row *to, struct given *given);
#ifdef __cplusplus
}
#endif

#endif
