/* program.c - launches with ROWS a kernel that is declared with LIST.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
REX_KERNEL(plain, LIST);
int main(void)
{
    int64_t value = 7;
    uint64_t out = 0;
    REX_MAP(map, ROWS);
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 1);
    int result = rex_launch(&launch, &map);
    return result == REX_EPARAMS ? 3 : result != 0;
}
