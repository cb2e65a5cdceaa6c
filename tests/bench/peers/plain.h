/* Loops of rex/kernel.h as `omp parallel for` without more. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#undef REX_DETAIL_THREADED
#define REX_DETAIL_THREADED(count, guess)                                                                         \
    for (struct rex_detail_run rex_detail_run = {.threads = omp_get_max_threads()}; rex_detail_run.threads > 0; \
         rex_detail_run.threads = 0)
