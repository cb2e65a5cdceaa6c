/*
 * Lesson 17: the part that the five programs share and that has no mistake: launch and check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef LESSON_AXPY_H
#define LESSON_AXPY_H

#include <rex_kmp.h>
#include <rex/map.h>

#include <stdio.h>

enum { COUNT = 1000, TEAMS = 4, THREADS = 64 };

/* Computes y += a * x by the kernel of @key. @type_of_y is the type of y's row. */
static inline int axpy(void *key, double *x, double *y, int64_t type_of_y)
{
    int64_t n = COUNT, bytes = COUNT * (int64_t)sizeof *x;
    double a = 2.0;
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    void *base[] = {packed_n, packed_a, x, y};
    void *begin[] = {packed_n, packed_a, x, y};
    int64_t sizes[] = {sizeof n, sizeof a, bytes, bytes};
    int64_t types[] = {REX_MAP_TARGET_PARAM | REX_MAP_LITERAL,
                       REX_MAP_TARGET_PARAM | REX_MAP_LITERAL, REX_MAP_TARGET_PARAM | REX_MAP_TO,
                       type_of_y};
    struct __tgt_kernel_arguments args = {3, 4, base, begin, sizes, types, 0, 0, n, 0,
                                          {TEAMS, 1, 1}, {THREADS, 1, 1}, 0};
    return __tgt_target_kernel(-1, TEAMS, THREADS, key, &args);
}

/* Returns the exit status of the program; @error is the result of its launch. */
static inline int check(int error, const double *y)
{
    if (error == 0)
        printf("y[%d] = %g, expected %g\n", COUNT - 1, y[COUNT - 1], 3.0 * (COUNT - 1));
    return error != 0 || y[COUNT - 1] != 3.0 * (COUNT - 1);
}

#endif
