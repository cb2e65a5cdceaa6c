/*
 * Lesson 4, second host file: the kernels' keys, and the two launches that make a time step.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

/*
 * Entries from all files end up in one table, in any order: keys and names do the matching.
 *
 * With a kernel's parameters the compiler knows the rows of its launches. Leave out the last row of
 * `pull` below, and gcc says
 *
 *     error: too few arguments to function 'pull__arguments__'
 *
 * Pass REX_VALUE(0.5) for the count, and it says
 *
 *     error: incompatible type for argument 2 of 'pull__arguments__'
 *     note: expected 'struct rex_integer' but argument is of type 'struct rex_double'
 *
 * and points at `count` in the list. (Argument 1 is librex's own.) If REX_KERNEL has the name
 * alone, as in the other lessons, the same mistakes are errors of the launch.
 */
REX_KERNEL(pull, PULL_PARAMETERS);
REX_KERNEL(move, MOVE_PARAMETERS);
REX_KERNEL(energy, ENERGY_PARAMETERS);

int take_step(int64_t count, double *position, double *velocity)
{
    /* The caller's region has mapped the arrays, or this is REX_EABSENT: nothing is copied. */
    int error =
        REX_LAUNCH_FOR(pull, count, REX_VALUE(count), REX_PRESENT(REX_ALLOC(position, count)),
                       REX_PRESENT(REX_ALLOC(velocity, count)));
    /* A launch returns when its kernel is done: `move` sees what `pull` has written. */
    if (error == 0)
        error =
            REX_LAUNCH_FOR(move, count, REX_VALUE(count), REX_PRESENT(REX_ALLOC(position, count)),
                           REX_PRESENT(REX_ALLOC(velocity, count)));
    return error;
}
