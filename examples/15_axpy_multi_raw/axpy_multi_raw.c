/*
 * Lesson 15: code as the REX compiler generates it for a region, with rex_kmp.h alone.
 *
 * The source had three functions, each with one loop, and a region that calls them:
 *
 *     #pragma omp target teams distribute parallel for          // scale_like, axpy_like, bias_like
 *     for (int64_t i = 0; i < n; i++)
 *         y[i] += a * x[i];
 *
 *     #pragma omp target data map(tofrom: x[0:n], y[0:n])       // run_on_device
 *     for (int round = 0; round < rounds; round++) { scale_like(...); axpy_like(...); ... }
 *
 * Each loop has a key, an entry, a kernel and one function that launches it. A round calls
 * axpy_like() twice, with one key and different values. Types of rows: 3 tofrom; 32 parameter,
 * mapped by the region; 288 parameter by value. The rest of the program is examples/axpy_multi's.
 *
 * Run it:  make && $(make -s print-O)/examples/15_axpy_multi_raw/15_axpy_multi_raw
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>

#include "../axpy_multi/axpy_multi.h"
#include "../common/common.h"

char OUT__1__scale_like__31__id__ = 0;
struct __tgt_offload_entry OUT__1__scale_like__31__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__scale_like__31__id__, (char *)"OUT__1__scale_like__31__kernel__", 0, 0, 0};
char OUT__2__axpy_like__38__id__ = 0;
struct __tgt_offload_entry OUT__2__axpy_like__38__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__2__axpy_like__38__id__, (char *)"OUT__2__axpy_like__38__kernel__", 0, 0, 0};
char OUT__3__bias_like__45__id__ = 0;
struct __tgt_offload_entry OUT__3__bias_like__45__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__3__bias_like__45__id__, (char *)"OUT__3__bias_like__45__kernel__", 0, 0, 0};

const char program_name[] = "15_axpy_multi_raw";

static int scale_like(int64_t __device_id, int64_t n, double a, double *x)
{
    int64_t __tripcount = n;
    int _threads_per_block_ = 128, _num_blocks_ = (int)((__tripcount + 127) / 128);
    void *__host_ptr = (void *)&OUT__1__scale_like__31__id__;
    void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
    void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&a, sizeof(double));
    void *__args_base[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x};
    void *__args[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x};
    int64_t __arg_sizes[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                             (int64_t)sizeof(double) * n};
    int64_t __arg_types[] = {288, 288, 32};
    struct __tgt_kernel_arguments __kernel_args = {
        3, 3, __args_base, __args, __arg_sizes, __arg_types, 0, 0, __tripcount, 0,
        {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
    return __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_, __host_ptr,
                               &__kernel_args);
}

static int axpy_like(int64_t __device_id, int64_t n, double a, double *x, double *y)
{
    int64_t __tripcount = n;
    int _threads_per_block_ = 128, _num_blocks_ = (int)((__tripcount + 127) / 128);
    void *__host_ptr = (void *)&OUT__2__axpy_like__38__id__;
    void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
    void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&a, sizeof(double));
    void *__args_base[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
    void *__args[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
    int64_t __arg_sizes[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                             (int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
    int64_t __arg_types[] = {288, 288, 32, 32};
    struct __tgt_kernel_arguments __kernel_args = {
        3, 4, __args_base, __args, __arg_sizes, __arg_types, 0, 0, __tripcount, 0,
        {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
    return __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_, __host_ptr,
                               &__kernel_args);
}

static int bias_like(int64_t __device_id, int64_t n, double b, double *y)
{
    int64_t __tripcount = n;
    int _threads_per_block_ = 128, _num_blocks_ = (int)((__tripcount + 127) / 128);
    void *__host_ptr = (void *)&OUT__3__bias_like__45__id__;
    void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
    void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&b, sizeof(double));
    void *__args_base[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, y};
    void *__args[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, y};
    int64_t __arg_sizes[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                             (int64_t)sizeof(double) * n};
    int64_t __arg_types[] = {288, 288, 32};
    struct __tgt_kernel_arguments __kernel_args = {
        3, 3, __args_base, __args, __arg_sizes, __arg_types, 0, 0, __tripcount, 0,
        {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
    return __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_, __host_ptr,
                               &__kernel_args);
}

int run_on_device(struct vectors vectors, struct device_run *run)
{
    int __failed = 0;
    int64_t n = vectors.count, __device_id = run->device;
    double *x = vectors.x, *y = vectors.y, __begin = seconds_now();
    void *__args_base[] = {x, y};
    void *__args[] = {x + 0, y + 0};
    int64_t __arg_sizes[] = {(int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
    int64_t __arg_types[] = {3, 3};
    __tgt_target_data_begin(__device_id, 2, __args_base, __args, __arg_sizes, __arg_types);
    for (int round = 0; round < run->rounds && __failed == 0; round++, run->launches += 4) {
        __failed |= scale_like(__device_id, n, SCALE, x);
        __failed |= axpy_like(__device_id, n, FIRST, x, y);
        __failed |= axpy_like(__device_id, n, SECOND, x, y);
        __failed |= bias_like(__device_id, n, BIAS, y);
    }
    __tgt_target_data_end(__device_id, 2, __args_base, __args, __arg_sizes, __arg_types);
    run->seconds = seconds_now() - __begin;
    if (__failed != 0 && rex_last_error_code() == REX_OK) /* librex prints errors */
        fprintf(stderr, "%s: there is no device to launch on\n", program_name);
    return __failed == 0 ? 0 : -1;
}
