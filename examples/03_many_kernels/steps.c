/*
 * Lesson 3, second host file: the kernels' keys, and the two launches that make a time step. See
 * many_kernels.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

/*
 * Entries from all files of a program end up in one table, in any order: keys and names do the
 * matching.
 */
REX_KERNEL(pull);
REX_KERNEL(move);
REX_KERNEL(energy);

int launch(const void *kernel, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(kernel, 64, 128);
    return rex_launch(&launch, map);
}

int take_step(int64_t count, double *position, double *velocity)
{
    /* Both kernels take the same arguments. The region has mapped the arrays: nothing is copied. */
    REX_MAP(arguments, REX_VALUE(count), REX_ALLOC(position, count), REX_ALLOC(velocity, count));
    int result = launch(REX_KERNEL_ID(pull), &arguments);
    /* A launch returns when its kernel is done: `move` sees what `pull` has written. */
    return result == 0 ? launch(REX_KERNEL_ID(move), &arguments) : result;
}
