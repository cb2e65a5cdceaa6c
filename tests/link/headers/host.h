/* host.h - every header but those for kernels, which the script writes into headers.h, and the macros of a program.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifdef LINKAGE
extern "C" {
#include "headers.h"
}
#else
#include <rex/kernel.h>
#include "headers.h"
#endif
REX_KERNEL(axpy);
int launch(double *x, double *y, int64_t n)
{
    REX_MAP(args, REX_VALUE(n), REX_VALUE(2.0), REX_TO(x, n), REX_TOFROM(y, n));
    struct rex_launch_config how = rex_launch_config_of(REX_KERNEL_ID(axpy), 8, 128);
    REX_MAP(region, REX_ALLOC(x, n));
    REX_DATA_REGION_MAP(NULL, -1, region)
        if (rex_launch(&how, &args) != 0)
            break;
    __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));
    return rex_offload_init();
}
