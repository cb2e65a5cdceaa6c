/* caller.c - what REX emits, on the wrappers of helper.c or own.c, or of neither. Usage: caller COUNT, how many wrappers of theirs it calls.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define REX_KMP_INTERNAL
#include "rex_kmp.h"
#ifdef NONE
static int own_wrappers = 0;
#define rex_offload_init() rex_module_add(&rex_this_module) /* librex's exported wrappers look for the key in all modules */
#else
extern int own_wrappers;
#endif
char OUT__1__scale__7__id__ = 0;
struct __tgt_offload_entry OUT__1__scale__7__omp_offload_entry__ __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__scale__7__id__, (char *)"OUT__1__scale__7__kernel__", 0, 0, 0};
int main(int argc, char **argv)
{
    double x[3] = {1, 2, 3};
    int64_t n = 3;
    int teams = 1, threads = 32, rows = 2;
    void *packed = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *values[] = {packed, x};
    int64_t sizes[] = {8, 24}, types[] = {288, 33}, region[] = {3};
    /* Version 2: own.c gives the packet to libomptarget, which adds a parameter from version 3 on. */
    struct __tgt_kernel_arguments args = {2, rows, values, values, sizes, types, 0, 0, (int64_t)n, 0, {teams, 1, 1}, {threads, 1, 1}, 0};
    rex_offload_init();
    rex___tgt_target_data_begin(-1, 1, values + 1, values + 1, sizes + 1, region);
    int failed = rex___tgt_target_kernel(-1, teams, threads, &OUT__1__scale__7__id__, &args);
    rex___tgt_target_data_end(-1, 1, values + 1, values + 1, sizes + 1, region);
    return failed || argc != 2 || own_wrappers != atoi(argv[1]) || x[2] != 6;
}
