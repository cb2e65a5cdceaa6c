/*
 * Lesson 11: a plug-in with a kernel of its own. A program opens it with dlopen(). See scale.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_CUBIN_NAME "shift.cubin"
#define REX_HOST_IMAGE_NAME "shift_host.so"
#include <rex.h>

#include "shift.h"

REX_KERNEL(shift);

shift_function shift; /* as a declaration: int shift(double *, int64_t, double) */

int shift(double *x, int64_t count, double amount)
{
    /* If the caller has mapped x, the launch copies nothing. */
    return REX_LAUNCH_FOR(shift, count, REX_VALUE(count), REX_VALUE(amount), REX_TOFROM(x, count));
}
