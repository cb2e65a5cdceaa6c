/*
 * Lesson 17, a broken program: a region that does not end.
 *
 * Without the end nothing is copied back. librex cannot see the mistake in any single call, because
 * a region may end anywhere, so it warns when the program ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "axpy.h"

char axpy__id__ = 0;
struct __tgt_offload_entry axpy__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &axpy__id__, (char *)"axpy__kernel__", 0, 0, 0};

int main(void)
{
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = y[i] = i;
    void *region[] = {y};
    int64_t sizes[] = {sizeof y}, types[] = {REX_MAP_TOFROM};
    __tgt_target_data_begin(-1, 1, region, region, sizes, types);
    return check(axpy(&axpy__id__, x, y, REX_MAP_TARGET_PARAM), y);
}
