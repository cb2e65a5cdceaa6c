/*
 * Lesson 11: a shared library with a kernel of its own, linked by the program.
 *
 * librex looks for a library's image beside the library. Several modules may lie in one folder, so
 * this file defines two names for its images before the include. The rest is as in a program. The
 * library's first launch registers it, or an earlier data call of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_CUBIN_NAME "scale.cubin"
#define REX_HOST_IMAGE_NAME "scale_host.so"
#include <rex.h>

#include "scale.h"

REX_KERNEL(scale);

int scale(double *x, int64_t count, double factor)
{
    /* The caller has mapped x; if not, the launch returns REX_EABSENT. */
    return REX_LAUNCH_FOR(scale, count, REX_VALUE(count), REX_VALUE(factor),
                          REX_PRESENT(REX_ALLOC(x, count)));
}

const char *scale_image(void)
{
    /* In this file rex_this_module is the library's module, not the program's. */
    return rex_module_image_path(&rex_this_module);
}
