/*
 * Lesson 11: a shared library with a kernel of its own, linked by the program.
 *
 * The two names are defined before the include, since several modules may lie in one folder: the
 * library's image is looked for beside the library. Everything else is as in a program. The
 * library's first launch registers it.
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
    /* The caller has mapped x; if not, this is REX_EABSENT. */
    return REX_LAUNCH_FOR(scale, count, REX_VALUE(count), REX_VALUE(factor),
                          REX_PRESENT(REX_ALLOC(x, count)));
}

const char *scale_image(void)
{
    /* This binary's module: not the program's. */
    return rex_module_image_path(&rex_this_module);
}
