/*
 * Lesson 4, second host file: the kernels' keys, and the two launches that make a time step.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

/*
 * The linker puts the entries of all files into one table, in any order. Keys and names match the
 * kernels, not the order.
 *
 * If REX_KERNEL lists the parameters, the compiler checks the rows of each launch macro. Leave out
 * the last row of `pull` below, and gcc reports
 *
 *     error: too few arguments to function 'pull__arguments__'
 *
 * Pass REX_VALUE(0.5) for the count, and gcc reports
 *
 *     error: incompatible type for argument 2 of 'pull__arguments__'
 *     note: expected 'struct rex_integer' but argument is of type 'struct rex_double'
 *
 * and points at `count` in the list. (Argument 1 is librex's own.) If REX_KERNEL has only the name,
 * as in the other lessons, the launch reports these mistakes.
 */
REX_KERNEL(pull, PULL_PARAMETERS);
REX_KERNEL(move, MOVE_PARAMETERS);
REX_KERNEL(energy, ENERGY_PARAMETERS);

int take_step(int64_t count, double *position, double *velocity)
{
    /* The caller's region has mapped the arrays, so nothing is copied; if not: REX_EABSENT. */
    int error =
        REX_LAUNCH_FOR(pull, count, REX_VALUE(count), REX_PRESENT(REX_ALLOC(position, count)),
                       REX_PRESENT(REX_ALLOC(velocity, count)));
    /* A kernel runs after those of earlier launches, so `move` reads the values of `pull`. */
    if (error == 0)
        error =
            REX_LAUNCH_FOR(move, count, REX_VALUE(count), REX_PRESENT(REX_ALLOC(position, count)),
                           REX_PRESENT(REX_ALLOC(velocity, count)));
    return error;
}
