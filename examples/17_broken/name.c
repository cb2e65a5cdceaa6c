/*
 * Lesson 17, a broken program: the entry's kernel is not in the image.
 *
 * This happens if only one of the two sides is renamed, or if the image is an old one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "axpy.h"

char axpy__id__ = 0;
struct __tgt_offload_entry axpy__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &axpy__id__, (char *)"axpi__kernel__", 0, 0, 0};

int main(void)
{
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = y[i] = i;
    return check(axpy(&axpy__id__, x, y, REX_MAP_TARGET_PARAM | REX_MAP_TOFROM), y);
}
