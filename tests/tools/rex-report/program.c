/* program.c - 40 launches with a copy each, in a region, or in a region each; or an abort.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
#include <stdlib.h>
#include <string.h>
REX_KERNEL(twice);
enum { COUNT = 50000, LAUNCHES = 40 };
static double x[COUNT];
int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    int64_t n = 10;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 32);
    REX_MAP(args, REX_VALUE(n), REX_TOFROM(x, COUNT));
    REX_MAP(region, REX_TO(x, COUNT));
    bool around = strcmp(way, "around") == 0, inside = strcmp(way, "inside") == 0;
    if (around && rex_data_enter(-1, &region) != 0)
        return 1;
    for (int i = 0; i < LAUNCHES; i++) {
        if (inside && rex_data_enter(-1, &region) != 0)
            return 1;
        if (rex_launch(&launch, &args) != 0)
            return 1;
        if (inside && rex_data_exit(-1, &region) != 0)
            return 1;
    }
    if (around && rex_data_exit(-1, &region) != 0)
        return 1;
    if (strcmp(way, "abort") == 0)
        abort();
    return rex_offload_fini();
}
