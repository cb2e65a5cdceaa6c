/*
 * axpy_multi_raw - four kernels in one data region, as a compiler writes them.
 *
 * This is what a source-to-source compiler makes of
 *
 *     #pragma omp target data map(tofrom: x[0:n], y[0:n])
 *     for (int round = 0; round < run->rounds; round++) {
 *     #pragma omp target teams distribute parallel for
 *         for (int64_t i = 0; i < n; i++) x[i] *= scale;
 *     #pragma omp target teams distribute parallel for
 *         for (int64_t i = 0; i < n; i++) y[i] += first * x[i];
 *     #pragma omp target teams distribute parallel for
 *         for (int64_t i = 0; i < n; i++) y[i] += second * x[i];
 *     #pragma omp target teams distribute parallel for
 *         for (int64_t i = 0; i < n; i++) y[i] += bias;
 *     }
 *
 * with nothing but rex_kmp.h. Two of the loops are the same but for a number: a compiler gives each
 * directive a kernel of its own. examples/axpy_multi is the same in the library's words, without
 * the region.
 *
 * Run it:  make && $(make -s print-O)/examples/axpy_multi_raw/axpy_multi_raw --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>
#include <stdlib.h>

#include "../axpy_multi/axpy_multi.h"
#include "../common/common.h"

char OUT__1__rounds__31__id__ = 0;
struct __tgt_offload_entry OUT__1__rounds__31__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__rounds__31__id__, (char *)"OUT__1__rounds__31__kernel__", 0, 0, 0};
char OUT__2__rounds__35__id__ = 0;
struct __tgt_offload_entry OUT__2__rounds__35__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__2__rounds__35__id__, (char *)"OUT__2__rounds__35__kernel__", 0, 0, 0};
char OUT__3__rounds__39__id__ = 0;
struct __tgt_offload_entry OUT__3__rounds__39__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__3__rounds__39__id__, (char *)"OUT__3__rounds__39__kernel__", 0, 0, 0};
char OUT__4__rounds__43__id__ = 0;
struct __tgt_offload_entry OUT__4__rounds__43__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__4__rounds__43__id__, (char *)"OUT__4__rounds__43__kernel__", 0, 0, 0};

/* ---- what the compiler made of the function with the directives ------------------------------ */

/* Types of rows: 3 tofrom; 32 parameter, on the device already; 288 literal and parameter. */
static int take_rounds(struct device_run *run, int64_t n, double *x, double *y)
{
    int __launched = 0;
    const double scale = SCALE, first = FIRST, second = SECOND, bias = BIAS;
    int64_t __device_id = run->device;
    void *__args_base[] = {x, y};
    void *__args[] = {x + 0, y + 0};
    int64_t __arg_sizes[] = {(int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
    int64_t __arg_types[] = {3, 3};
    int __arg_num = 2;
    __tgt_target_data_begin(__device_id, __arg_num, __args_base, __args, __arg_sizes, __arg_types);
    for (int round = 0; round < run->rounds && __launched == 0; round++) {
        {
            int64_t __tripcount = n;
            int _threads_per_block_ = 128;
            int _num_blocks_ = (int)((__tripcount + 127) / 128);
            void *__host_ptr = (void *)&OUT__1__rounds__31__id__;
            void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
            void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&scale, sizeof(double));
            void *__args_base_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x};
            void *__args_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x};
            int64_t __arg_sizes_1[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                       (int64_t)sizeof(double) * n};
            int64_t __arg_types_1[] = {288, 288, 32};
            int __arg_num_1 = 3;
            struct __tgt_kernel_arguments __kernel_args = {3,
                                                           __arg_num_1,
                                                           __args_base_1,
                                                           __args_1,
                                                           __arg_sizes_1,
                                                           __arg_types_1,
                                                           0,
                                                           0,
                                                           (int64_t)__tripcount,
                                                           0,
                                                           {_num_blocks_, 1, 1},
                                                           {_threads_per_block_, 1, 1},
                                                           0};
            __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                              __host_ptr, &__kernel_args);
            run->launches++;
        }
        {
            int64_t __tripcount = n;
            int _threads_per_block_ = 128;
            int _num_blocks_ = (int)((__tripcount + 127) / 128);
            void *__host_ptr = (void *)&OUT__2__rounds__35__id__;
            void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
            void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&first, sizeof(double));
            void *__args_base_2[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
            void *__args_2[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
            int64_t __arg_sizes_2[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                       (int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
            int64_t __arg_types_2[] = {288, 288, 32, 32};
            int __arg_num_2 = 4;
            struct __tgt_kernel_arguments __kernel_args = {3,
                                                           __arg_num_2,
                                                           __args_base_2,
                                                           __args_2,
                                                           __arg_sizes_2,
                                                           __arg_types_2,
                                                           0,
                                                           0,
                                                           (int64_t)__tripcount,
                                                           0,
                                                           {_num_blocks_, 1, 1},
                                                           {_threads_per_block_, 1, 1},
                                                           0};
            __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                              __host_ptr, &__kernel_args);
            run->launches++;
        }
        {
            int64_t __tripcount = n;
            int _threads_per_block_ = 128;
            int _num_blocks_ = (int)((__tripcount + 127) / 128);
            void *__host_ptr = (void *)&OUT__3__rounds__39__id__;
            void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
            void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&second, sizeof(double));
            void *__args_base_3[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
            void *__args_3[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, x, y};
            int64_t __arg_sizes_3[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                       (int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
            int64_t __arg_types_3[] = {288, 288, 32, 32};
            int __arg_num_3 = 4;
            struct __tgt_kernel_arguments __kernel_args = {3,
                                                           __arg_num_3,
                                                           __args_base_3,
                                                           __args_3,
                                                           __arg_sizes_3,
                                                           __arg_types_3,
                                                           0,
                                                           0,
                                                           (int64_t)__tripcount,
                                                           0,
                                                           {_num_blocks_, 1, 1},
                                                           {_threads_per_block_, 1, 1},
                                                           0};
            __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                              __host_ptr, &__kernel_args);
            run->launches++;
        }
        {
            int64_t __tripcount = n;
            int _threads_per_block_ = 128;
            int _num_blocks_ = (int)((__tripcount + 127) / 128);
            void *__host_ptr = (void *)&OUT__4__rounds__43__id__;
            void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
            void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&bias, sizeof(double));
            void *__args_base_4[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, y};
            void *__args_4[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, y};
            int64_t __arg_sizes_4[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                       (int64_t)sizeof(double) * n};
            int64_t __arg_types_4[] = {288, 288, 32};
            int __arg_num_4 = 3;
            struct __tgt_kernel_arguments __kernel_args = {3,
                                                           __arg_num_4,
                                                           __args_base_4,
                                                           __args_4,
                                                           __arg_sizes_4,
                                                           __arg_types_4,
                                                           0,
                                                           0,
                                                           (int64_t)__tripcount,
                                                           0,
                                                           {_num_blocks_, 1, 1},
                                                           {_threads_per_block_, 1, 1},
                                                           0};
            __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                              __host_ptr, &__kernel_args);
            run->launches++;
        }
    }
    __tgt_target_data_end(__device_id, __arg_num, __args_base, __args, __arg_sizes, __arg_types);
    return __launched;
}

/* ---- the rest of the user's program ---------------------------------------------------------- */

static void set_up(struct vectors vectors)
{
    for (int64_t i = 0; i < vectors.count; i++) {
        vectors.x[i] = (double)(i % 1000);
        vectors.y[i] = (double)(i % 17);
    }
}

/* @expected, which is set up, becomes what the serial run makes of it. */
static int check(const struct settings *settings, struct vectors vectors, struct vectors expected,
                 int rounds)
{
    int64_t wrong = 0;
    double began = seconds_now();
    run_serially(expected, rounds);
    double seconds = seconds_now() - began;
    for (int64_t i = 0; i < vectors.count; i++)
        wrong += vectors.x[i] != expected.x[i] || vectors.y[i] != expected.y[i];
    return print_check(settings, wrong == 0, seconds, "%lld of %lld elements wrong",
                       (long long)wrong, (long long)vectors.count);
}

static int compute(const struct settings *settings, int rounds, double *memory)
{
    int64_t count = settings->size;
    struct vectors vectors = {count, memory, memory + count},
                   expected = {count, memory + 2 * count, memory + 3 * count};
    struct device_run run = {.device = settings->device, .rounds = rounds};
    set_up(vectors);
    set_up(expected);
    double began = seconds_now();
    int result = take_rounds(&run, count, vectors.x, vectors.y);
    run.seconds = seconds_now() - began;
    if (result != 0)
        return 1;
    print_line("axpy_multi_raw", "%lld elements, %d rounds of four launches", (long long)count,
               rounds);
    print_run(settings, run.launches, run.seconds);
    return check(settings, vectors, expected, rounds);
}

int main(int argc, char **argv)
{
    int64_t rounds = 10;
    const struct extra_option extra[] = {
        {"rounds", "R", "how often the kernels are called, 1 to 32 (10)", NULL, &rounds, 1,
         MOST_ROUNDS},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct settings settings = {
        .program = "axpy_multi_raw",
        .purpose = "Scales a vector, adds multiples of it to another, and shifts that one, on the\n"
                   "device that libomptarget offers, in the words of generated code. Checks the\n"
                   "result against a serial run.",
        .unit = "elements of a vector",
        .size = 1000000,
        .smallest = 1,
        .largest = 1 << 28,
        .extra = extra,
    };
    read_options(&settings, argc, argv);
    if (rex_offload_init() != 0 || check_device(&settings) != 0)
        return 1;
    double *memory = (double *)malloc(4 * (size_t)settings.size * sizeof *memory);
    if (memory == NULL)
        fputs("axpy_multi_raw: out of memory\n", stderr);
    int status = memory != NULL ? compute(&settings, (int)rounds, memory) : 1;
    free(memory);
    return status;
}
