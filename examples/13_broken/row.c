/*
 * Lesson 13, a broken program: a row that is no parameter.
 *
 * The bit 0x20 is missing in its type: y is mapped, and the kernel gets no address of it. Its signature says that it wants one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>

enum { COUNT = 1000 };

char axpy__id__ = 0;
struct __tgt_offload_entry axpy__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {&axpy__id__, (char *)"axpy__kernel__", 0, 0, 0};

static int axpy(int64_t n, double a, double *x, double *y)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof(double));
    int64_t bytes = n * (int64_t)sizeof(double);
    void *base[] = {packed_n, packed_a, x, y};
    void *begin[] = {packed_n, packed_a, x, y};
    int64_t sizes[] = {8, 8, bytes, bytes};
    int64_t types[] = {288, 288, 33, 3};
    struct __tgt_kernel_arguments args = {3, 4, base, begin, sizes, types, 0, 0, n, 0, {4, 1, 1}, {64, 1, 1}, 0};
    return __tgt_target_kernel(-1, 4, 64, &axpy__id__, &args);
}

int main(void)
{
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = y[i] = i;
    if (rex_offload_init() != 0 || axpy(COUNT, 2.0, x, y) != 0)
        return 1;
    printf("y[%d] = %g, and not %g\n", COUNT - 1, y[COUNT - 1], 3.0 * (COUNT - 1));
    return y[COUNT - 1] != 3.0 * (COUNT - 1);
}
