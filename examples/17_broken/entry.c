/*
 * Lesson 17, a broken program: an entry that is in no table.
 *
 * The attribute that puts the entry into the section is missing, so librex does not find the entry.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "axpy.h"

char axpy__id__ = 0;
struct __tgt_offload_entry axpy__omp_offload_entry__ = {&axpy__id__, (char *)"axpy__kernel__", 0,
                                                        0, 0};

int main(void)
{
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = y[i] = i;
    return check(axpy(&axpy__id__, x, y, REX_MAP_TARGET_PARAM | REX_MAP_TOFROM), y);
}
