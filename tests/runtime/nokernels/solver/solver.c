/* A shared object with a kernel. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define REX_CUBIN_NAME "solver.cubin"
#define REX_HOST_IMAGE_NAME "solver_host.so"
#include "solver.h"

#include <rex.h>

REX_KERNEL(triple);

int solver_triple(int64_t *x, int64_t count)
{
    REX_MAP(args, REX_VALUE(count), REX_PRESENT(REX_TOFROM(x, count)));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(triple), 1, 32);
    return rex_launch(&launch, &args);
}

int solver_init(void)
{
    return rex_offload_init();
}

void solver_table(struct __tgt_offload_entry **begin, struct __tgt_offload_entry **end)
{
    *begin = rex_entries_begin;
    *end = rex_entries_end;
}
