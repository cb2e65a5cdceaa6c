/*
 * main.c - launches a kernel through every entry of the binary, and those of a shared object. usage: main ENTRIES ENTRIES-OF-OBJECT
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "entries.h"

REX_KERNEL_DECLARE(first);
REX_KERNEL_DECLARE(second);
REX_KERNEL_STEM_DECLARE(OUT__1__solve__17__);

static int update_global(void)
{
    void *row[1] = {&entries_global};
    int64_t sizes[1] = {sizeof entries_global}, types[1] = {1};
    entries_global = 1000000;
    if (rex_offload_init() != 0)
        return -1;
    __tgt_target_data_update(-1, 1, row, row, sizes, types);
    return 0;
}

int main(int argc, char **argv)
{
    int64_t x = 0;
    long entries = (long)(rex_entries_end - rex_entries_begin);
    if (argc != 3 || entries != atol(argv[1]))
        return printf("%ld entries in the program\n", entries), 1;
    if (update_global() != 0)
        return 1;
    void *keys[] = {REX_KERNEL_ID(first), REX_KERNEL_STEM_ID(OUT__1__solve__17__), &OUT__2__smooth__20__id__,
                    &OUT__3__smooth__31__id__, REX_KERNEL_ID(second)};
    int64_t by = 1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++, by *= 10)
        if (add_with(keys[i], by, &x) != 0)
            return printf("kernel %zu was not launched\n", i), 1;
    int of_object = object_run(&x);
    if (of_object != atoi(argv[2]))
        return printf("%d entries in the shared object\n", of_object), 1;
    printf("%lld\n", (long long)x);
    return x != 7511111;
}
