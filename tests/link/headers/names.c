/* names.c - both names of each wrapper: called, taken the address of, declared again.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_KMP_INTERNAL
void rex_offload_init(void); /* in front of the header, and after it with either result */
#include <rex_kmp.h>
int rex_offload_init(void);
void rex_offload_fini(void);
#ifdef __cplusplus
#define GLOBAL ::
#else
#define GLOBAL
#endif
int begin(int (**init)(void));
int begin(int (**init)(void))
{
    *init = &rex_offload_init;
    if (GLOBAL rex_offload_init() != 0)
        return rex_offload_fini();
    return GLOBAL rex_offload_fini();
}
#else
#include <rex_kmp.h>
void begin(void (**init)(void));
void begin(void (**init)(void))
{
    *init = rex_offload_init;
    rex_offload_init();
    rex_offload_fini();
    __tgt_register_lib(__cubin_desc);
    __tgt_unregister_lib(__cubin_desc);
}
#endif
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef int launcher(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef void data_call(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types);
extern launcher *const launchers[];
launcher *const launchers[] = {rex___tgt_target_kernel, &rex_direct___tgt_target_kernel};
extern data_call *const calls[];
data_call *const calls[] = {rex___tgt_target_data_begin, &rex_direct___tgt_target_data_begin, rex___tgt_target_data_end};
#ifdef REX_KMP_INTERNAL
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args)
{
    return rex_direct___tgt_target_kernel(device, teams, threads, key, args);
}
#endif
int both(void *key, struct __tgt_kernel_arguments *args, struct __tgt_bin_desc **made);
int both(void *key, struct __tgt_kernel_arguments *args, struct __tgt_bin_desc **made)
{
    *made = register_cubin(0);
    rex___tgt_target_data_update(-1, 0, 0, 0, 0, 0);
    rex_direct___tgt_target_data_update(-1, 0, 0, 0, 0, 0);
    return rex___tgt_target_kernel(-1, 1, 1, key, args) + rex_direct___tgt_target_kernel(-1, 1, 1, key, args) +
           rex___tgt_target(-1, key, 0, 0, 0, 0, 0) + rex_direct___tgt_target_teams(-1, key, 0, 0, 0, 0, 0, 1, 1);
}
