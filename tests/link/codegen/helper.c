/* helper.c - a helper with safe wrappers of its own, beside files that call them.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define REX_KMP_INTERNAL
#include "rex_kmp.h"
int own_wrappers = 0;
__attribute__((visibility("hidden"))) int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr,
                                                                  struct __tgt_kernel_arguments *args)
{
    own_wrappers++;
    if (register_cubin(REX_CUBIN_NAME) == NULL)
        return -1;
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, args);
}
__attribute__((visibility("hidden"))) void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                                                       int64_t *arg_sizes, int64_t *arg_types)
{
    own_wrappers++;
    if (register_cubin(REX_CUBIN_NAME) != NULL)
        rex_direct___tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}
