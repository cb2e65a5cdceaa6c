/*
 * A program as the REX compiler emits it: what is left of the user's source once the directives are gone, with one include added. The
 * packets are filled by position, the entries are plain objects in a section. Two loops in two files, and a helper that includes
 * nothing.
 *
 * The compiler puts a call of rex_offload_init() at the start of main; with LAZY it does not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
void rex_offload_init(void);
void rex_offload_fini(void);
#include "rex_kmp.h"

#include <stdio.h>

char OUT__1__main__38__id__ = 0;
struct __tgt_offload_entry OUT__1__main__38__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__1__main__38__id__, (char *)"OUT__1__main__38__kernel__", 0, 0, 0};

int older_calls(float *x, float *y, int n);
int begin_again(void);

int main(int argc, char *argv[])
{
#ifndef LAZY
    rex_offload_init();
#endif
    int n = 10000;
    float a = 3.5f;
    float *x = (float *)malloc(sizeof(float) * (size_t)n);
    float *y = (float *)malloc(sizeof(float) * (size_t)n);
    int wrong = 0;
    (void)argc;
    (void)argv;
    for (int i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    for (int repeat = 0; repeat < 2; repeat++) {
        int64_t __device_id = -1;
        int _threads_per_block_ = 128;
        int _num_blocks_ = (n + 127) / 128;
        void *host_ptr = (void *)&OUT__1__main__38__id__;
        void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
        void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&a, sizeof(float));
        void *__args_base[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
        void *__args[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x + 0, y + 0};
        int64_t __arg_sizes[] = {(int64_t)sizeof(int), (int64_t)sizeof(float), (int64_t)sizeof(float) * n, (int64_t)sizeof(float) * n};
        int64_t __arg_types[] = {288, 288, 33, 35};
        int __arg_num = 4;
        int64_t __tripcount = n;
        struct __tgt_kernel_arguments __kernel_args = {
            3,
            __arg_num,
            __args_base,
            __args,
            __arg_sizes,
            __arg_types,
            0,
            0,
            (int64_t)__tripcount,
            0,
            {_num_blocks_, 1, 1},
            {_threads_per_block_, 1, 1},
            0};
        if (__tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_, host_ptr, &__kernel_args) != 0)
            return 2;
    }
    for (int i = 0; i < n; i++)
        wrong += y[i] != 1.0f + 2 * a * x[i];
    if (older_calls(x, y, n) != 0)
        return 3;
    for (int i = 0; i < n; i++)
        wrong += y[i] != 4.0f * (1.0f + 2 * a * x[i]) + 1.0f;
    printf("%d of %d values wrong\n", wrong, n);
#ifndef LAZY
    if (__cubin_desc == NULL)
        return 4;
    rex_offload_fini();
#endif
    if (begin_again() != 0)
        return 5;
    free(x);
    free(y);
    return wrong != 0;
}
