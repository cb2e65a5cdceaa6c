/*
 * pathfinder_raw - a host loop of launches in one data region, as a compiler writes it.
 *
 * A source-to-source compiler generates this code for
 *
 *     #pragma omp target data map(to: wall[0:rows * columns]) \
 *             map(tofrom: src[0:columns], dst[0:columns])
 *     for (int t = 0; t < rows - 1; t++) {
 *     #pragma omp target teams distribute parallel for
 *         for (int n = 0; n < columns; n++)
 *             ...
 *         int *swap = src; src = dst; dst = swap;
 *     }
 *
 * The generated code needs only rex_kmp.h: key and entry are plain objects, columns are braced
 * local arrays, and the packet is filled by position. examples/pathfinder is this program with
 * librex's macros, and has the parts that do not offload.
 *
 * Run it:  make && $(make -s print-O)/examples/pathfinder_raw/pathfinder_raw --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "../pathfinder/pathfinder.h"

char OUT__1__walk__41__id__ = 0;
struct __tgt_offload_entry OUT__1__walk__41__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__walk__41__id__, (char *)"OUT__1__walk__41__kernel__", 0, 0, 0};

/* The device, and a counter. */
static int device;
static int64_t launches;

/* ---- generated code of the function with the directives -------------------------------------- */

/*
 * Types of rows: 1 to, 3 to and from; 32 parameter; 288 a literal that is a parameter. After the
 * call *src_and_result is the row of results.
 */
static int walk(int32_t *wall, int32_t **src_and_result, int32_t *dst, int rows, int columns)
{
    int32_t *src = *src_and_result;
    int __launched = 0;
    {
        int64_t __device_id = device;
        void *__args_base[] = {wall, src, dst};
        void *__args[] = {wall + 0, src + 0, dst + 0};
        int64_t __arg_sizes[] = {(int64_t)sizeof(int32_t) * rows * columns,
                                 (int64_t)sizeof(int32_t) * columns,
                                 (int64_t)sizeof(int32_t) * columns};
        int64_t __arg_types[] = {1, 3, 3};
        int __arg_num = 3;
        __tgt_target_data_begin(__device_id, __arg_num, __args_base, __args, __arg_sizes,
                                __arg_types);
        for (int t = 0; t < rows - 1 && __launched == 0; t++) {
            {
                int64_t __tripcount = columns;
                int _threads_per_block_ = 128;
                int _num_blocks_ = (int)((__tripcount + 127) / 128);
                void *__host_ptr = (void *)&OUT__1__walk__41__id__;
                void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&t, sizeof(int));
                void *__rex_packed_literal_arg_1 =
                    rex_pack_literal_arg_bytes(&columns, sizeof(int));
                void *__args_base_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1,
                                         wall, src, dst};
                void *__args_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, wall,
                                    src, dst};
                int64_t __arg_sizes_1[] = {(int64_t)sizeof(int), (int64_t)sizeof(int),
                                           (int64_t)sizeof(int32_t) * rows * columns,
                                           (int64_t)sizeof(int32_t) * columns,
                                           (int64_t)sizeof(int32_t) * columns};
                int64_t __arg_types_1[] = {288, 288, 32, 32, 32};
                int __arg_num_1 = 5;
                struct __tgt_kernel_arguments __kernel_args = {
                    3, __arg_num_1, __args_base_1, __args_1, __arg_sizes_1, __arg_types_1, 0, 0,
                    (int64_t)__tripcount, 0, {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
                __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                                  __host_ptr, &__kernel_args);
                launches++;
            }
            int32_t *swap = src;
            src = dst;
            dst = swap;
        }
        __tgt_target_data_end(__device_id, __arg_num, __args_base, __args, __arg_sizes,
                              __arg_types);
    }
    *src_and_result = src;
    return __launched;
}

/* ---- the rest of the user's program ---------------------------------------------------------- */

static int run(const struct settings *settings, const struct grid *grid, int32_t *buffers)
{
    int32_t *result = buffers, *other = buffers + grid->columns;
    struct check check = {0};
    memcpy(result, grid->cost, (size_t)grid->columns * sizeof *result);
    memset(other, 0, (size_t)grid->columns * sizeof *other);
    double began = seconds_now();
    int failed = walk(grid->cost, &result, other, (int)grid->rows, (int)grid->columns);
    if (failed != 0 && rex_last_error_code() == REX_OK) /* librex prints errors */
        fputs("pathfinder_raw: there is no device to launch on\n", stderr);
    if (failed != 0)
        return 1;
    double seconds = seconds_now() - began;
    if (settings->verify && check_against_serial(grid, result, &check) != 0)
        return 1;
    print_line("pathfinder_raw", "%lld columns, %lld rows, costs generated",
               (long long)grid->columns, (long long)grid->rows);
    print_run(settings, launches, seconds);
    return print_check(settings, check.wrong == 0, check.seconds, "%lld of %lld costs wrong",
                       (long long)check.wrong, (long long)grid->columns);
}

static int run_all(const struct settings *settings, int64_t rows)
{
    struct grid grid;
    if (make_grid(&grid, rows, settings->size) != 0)
        return 1;
    int32_t *buffers = (int32_t *)malloc(2 * (size_t)grid.columns * sizeof *buffers);
    if (buffers == NULL)
        fputs("pathfinder_raw: out of memory\n", stderr);
    int status = buffers != NULL ? run(settings, &grid, buffers) : 1;
    free(buffers);
    free(grid.cost);
    return status;
}

int main(int argc, char **argv)
{
    int64_t rows = DEFAULT_ROWS;
    const struct extra_option extra[] = {
        {"rows", "R", "rows of the grid (100)", NULL, &rows, 1, MOST_ROWS},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct settings settings = {
        .program = "pathfinder_raw",
        .purpose = "Finds the cheapest ways down a grid on a device of libomptarget. The\n"
                   "program's source has the form of a code generator's output.",
        .unit = "columns of the grid",
        .size = DEFAULT_COLUMNS,
        .smallest = 1,
        .largest = MOST_COLUMNS,
        .extra = extra,
    };
    read_options(&settings, argc, argv);
    device = settings.device;
    if (rex_offload_init() != 0 || check_device(&settings) != 0)
        return 1;
    return run_all(&settings, rows);
}
