/*
 * The second file of the program: the calls of older output, without a packet, and data regions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"
void rex_offload_init(void);
void rex_offload_fini(void);

char OUT__2__older__20__id__ = 0;
struct __tgt_offload_entry OUT__2__older__20__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__2__older__20__id__, (char *)"OUT__2__older__20__kernel__", 0, 0, 0};

char OUT__3__older__31__id__ = 0;
struct __tgt_offload_entry OUT__3__older__31__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__3__older__31__id__, (char *)"OUT__3__older__31__kernel__", 0, 0, 0};

int older_calls(float *x, float *y, int n);

/* y = 4 y + 1: doubled twice in a region that maps y, then one added to what the host has updated. */
int older_calls(float *x, float *y, int n)
{
    void *__region_base[] = {y};
    void *__region_args[] = {y};
    int64_t __region_sizes[] = {(int64_t)sizeof(float) * n};
    int64_t __region_types[] = {3};
    int64_t __from[] = {2};
    int64_t __to[] = {1};
    int result = 0;
    (void)x;
    __tgt_target_data_begin(-1, 1, __region_base, __region_args, __region_sizes, __region_types);
    {
        void *host_ptr = (void *)&OUT__2__older__20__id__;
        void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
        void *__args_base[] = {__rex_packed_literal_arg_0, y};
        void *__args[] = {__rex_packed_literal_arg_0, y};
        int64_t __arg_sizes[] = {(int64_t)sizeof(int), (int64_t)sizeof(float) * n};
        int64_t __arg_types[] = {288, 35};
        result |= __tgt_target_teams(-1, host_ptr, 2, __args_base, __args, __arg_sizes, __arg_types, 16, 64);
        result |= __tgt_target_teams(-1, host_ptr, 2, __args_base, __args, __arg_sizes, __arg_types, 0, 0);
    }
    /* The host has not seen the device's values yet; after the update it adds 0.5, which the second update sends back. */
    if (y[1] != 8.0f)
        result |= 4;
    __tgt_target_data_update(-1, 1, __region_base, __region_args, __region_sizes, __from);
    if (y[1] != 32.0f)
        result |= 8;
    for (int i = 0; i < n; i++)
        y[i] += 0.5f;
    __tgt_target_data_update(-1, 1, __region_base, __region_args, __region_sizes, __to);
    {
        void *host_ptr = (void *)&OUT__3__older__31__id__;
        void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
        void *__args_base[] = {__rex_packed_literal_arg_0, y};
        void *__args[] = {__rex_packed_literal_arg_0, y};
        int64_t __arg_sizes[] = {(int64_t)sizeof(int), (int64_t)sizeof(float) * n};
        int64_t __arg_types[] = {288, 35};
        result |= __tgt_target(-1, host_ptr, 2, __args_base, __args, __arg_sizes, __arg_types);
    }
    __tgt_target_data_end(-1, 1, __region_base, __region_args, __region_sizes, __region_types);
    return result;
}
