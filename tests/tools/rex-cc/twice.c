/* twice.c - launches the kernel of more.cu.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
REX_KERNEL(twice);
int twice(void);
int twice(void)
{
    double x[1] = {21};
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 1);
    REX_MAP(map, REX_TOFROM(x, 1));
    return rex_launch(&launch, &map) != REX_OK || x[0] != 42;
}
