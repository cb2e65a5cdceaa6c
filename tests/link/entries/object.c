/* object.c - a shared object with entries of its own. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "entries.h"

REX_KERNEL(in_object);

char OUT__9__object__5__id__ = 0;
struct __tgt_offload_entry OUT__9__object__5__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__9__object__5__id__, (char *)"OUT__9__object__5__kernel__", 0, 0, 0};

int object_run(int64_t *x)
{
    if (add_with(REX_KERNEL_ID(in_object), 2500000, x) != 0)
        return -1;
    if (add_with(&OUT__9__object__5__id__, 4000000, x) != 0)
        return -2;
    return (int)(rex_entries_end - rex_entries_begin);
}
