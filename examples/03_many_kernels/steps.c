/*
 * Lesson 3, second host file: the kernels' keys, and the two launches that make a time step. See many_kernels.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

/* Entries from all files of a program end up in one table, in any order: keys and names do the matching. */
REX_KERNEL(pull);
REX_KERNEL(move);
REX_KERNEL(energy);

int launch(void *kernel, int64_t count, uint32_t rows, void **address, int64_t *sizes, int64_t *types)
{
    struct __tgt_kernel_arguments args = {
        .Version = 3,
        .NumArgs = rows,
        .ArgsBase = address,
        .Args = address,
        .ArgSizes = sizes,
        .ArgTypes = types,
        .Tripcount = (uint64_t)count,
        .Teams = {TEAMS, 1, 1},
        .Threads = {THREADS, 1, 1},
    };
    return __tgt_target_kernel(-1, TEAMS, THREADS, kernel, &args);
}

int take_step(int64_t count, double *position, double *velocity)
{
    int64_t bytes = count * (int64_t)sizeof *position;
    void *address[] = {rex_pack_literal_arg_bytes(&count, sizeof count), position, velocity};
    int64_t sizes[] = {sizeof count, bytes, bytes};
    /*
     * Inside the data region the arrays are on the device already. These rows only have their host addresses
     * translated, and ask for no copy. (With the bits TO and FROM there would be none either: what is mapped already is
     * not copied again.)
     */
    int64_t types[] = {MAP_LITERAL, MAP_PARAMETER, MAP_PARAMETER};
    /* A launch returns when its kernel is done: `move` sees what `pull` has written. Both take the same rows. */
    if (launch(REX_KERNEL_ID(pull), count, 3, address, sizes, types) != 0)
        return -1;
    return launch(REX_KERNEL_ID(move), count, 3, address, sizes, types);
}
