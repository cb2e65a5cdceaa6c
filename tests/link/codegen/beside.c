/* beside.c - a generated file beside own.c: its calls by the names that own.c defines go there, those of the rewrite to librex.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rex_kmp.h"
void rex_offload_init(void); /* as own.c defines it: there is no result to test */
extern int own_inits, own_wrappers;
char OUT__1__scale__7__id__ = 0;
struct __tgt_offload_entry OUT__1__scale__7__omp_offload_entry__ __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__scale__7__id__, (char *)"OUT__1__scale__7__kernel__", 0, 0, 0};
int main(void)
{
    double x[3] = {1, 2, 3};
    int64_t n = 3;
    void *packed = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *values[] = {packed, x};
    int64_t sizes[] = {8, 24}, types[] = {288, 35};
    struct __tgt_kernel_arguments args = {2, 2, values, values, sizes, types, 0, 0, n, 0, {1, 1, 1}, {32, 1, 1}, 0};
    rex_offload_init();
    struct __tgt_bin_desc *own = __cubin_desc;
    if (own_inits != 1 || own == NULL || own != register_cubin(NULL) || rex_target_kernel_ident.psource[1] != 'o')
        return 1;
    if (rex___tgt_target_kernel(-1, 1, 32, &OUT__1__scale__7__id__, &args) != 0 || own_wrappers != 1 || x[2] != 6)
        return 2;
    if (__tgt_target_kernel(-1, 1, 32, &OUT__1__scale__7__id__, &args) != 0 || own_wrappers != 1 || x[2] != 12)
        return 3;
    return 0;
}
