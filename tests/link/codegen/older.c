/* older.c - a whole program of REX's older output: own __cubin_desc, a table that a constructor fills, keys that are strings.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rex_kmp.h"
#ifdef __cplusplus
extern "C" {
#endif
extern struct __tgt_bin_desc *register_cubin(char *, void *, void *);
struct __tgt_bin_desc *__cubin_desc = 0;

void __attribute__((destructor)) unregister_kernel_entries(void);
void __attribute__((destructor)) unregister_kernel_entries(void)
{
    __tgt_unregister_lib(__cubin_desc);
}
char OUT__1__7__scale__id__[] = "OUT__1__7__scale__";
struct __tgt_offload_entry __offload_entries[1];
struct __tgt_offload_entry *__start_omp_offloading_entries = &__offload_entries[0];
struct __tgt_offload_entry *__stop_omp_offloading_entries = 0;

void __attribute__((constructor)) register_kernel_entries(void);
void __attribute__((constructor)) register_kernel_entries(void)
{
    void *OUT__1__scale__7__entry_ptr__ = (void *)OUT__1__7__scale__id__;
    struct __tgt_offload_entry OUT__1__scale__7__omp_offload_entry__ = {OUT__1__scale__7__entry_ptr__, (char *)"OUT__1__scale__7__kernel__", 0, 0, 0};
    __offload_entries[0] = OUT__1__scale__7__omp_offload_entry__;
    __stop_omp_offloading_entries = &__offload_entries[1];
    char cuda_entry_name[] = "rex_lib_target.cubin";
    __cubin_desc = register_cubin(cuda_entry_name, __start_omp_offloading_entries, __stop_omp_offloading_entries);
}

int main(void)
{
    double x[3] = {1, 2, 3};
    int64_t n = 3;
    int64_t __device_id = 0;
    void *__host_ptr = (void *)OUT__1__7__scale__id__;
    void *__args_base[] = {(void *)n, x};
    void *__args[] = {(void *)n, x};
    int64_t __arg_sizes[] = {((int64_t)(sizeof(int64_t))), ((int64_t)(sizeof x))};
    int64_t __arg_types[] = {288, 35};
    int32_t __arg_num = 2;
    __tgt_target_teams(__device_id, __host_ptr, __arg_num, __args_base, __args, __arg_sizes, __arg_types, 1024, 256);
    return __cubin_desc == 0 || x[2] != 6;
}
#ifdef __cplusplus
}
#endif
