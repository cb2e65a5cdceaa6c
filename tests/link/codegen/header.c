/* header.c - a kernel by the macros of the header.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
REX_KERNEL_STEM(OUT__3__scale__2__);
int with_header(double *x, int64_t n);
int with_header(double *x, int64_t n)
{
    REX_MAP(map, REX_VALUE(n), REX_TOFROM(x, n));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_STEM_ID(OUT__3__scale__2__), 1, 1);
    return rex_launch(&launch, &map);
}
