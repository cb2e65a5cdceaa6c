/*
 * hotspot_raw - two kernels in one data region, as a compiler writes them.
 *
 * A source-to-source compiler generates this code for
 *
 *     #pragma omp target data map(to: power[0:n * n]) map(tofrom: temp[0:n * n]) \
 *             map(alloc: result[0:n * n])
 *     for (int i = 0; i < steps; i++) {
 *     #pragma omp target teams distribute parallel for collapse(2)
 *         ...
 *     #pragma omp target teams distribute parallel for collapse(2)
 *         ...
 *     }
 *
 * The generated code needs only rex_kmp.h: keys and entries are plain objects, columns are braced
 * local arrays, and packets are filled by position. examples/hotspot is the whole application with
 * librex's macros.
 *
 * Run it:  make && $(make -s print-O)/examples/hotspot_raw/hotspot_raw --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/configure.h"
#include "rex/device.h"
#include "rex_kmp.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serial.h"

char OUT__1__simulate__31__id__ = 0;
struct __tgt_offload_entry OUT__1__simulate__31__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__simulate__31__id__, (char *)"OUT__1__simulate__31__kernel__", 0, 0, 0};
char OUT__2__simulate__42__id__ = 0;
struct __tgt_offload_entry OUT__2__simulate__42__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__2__simulate__42__id__, (char *)"OUT__2__simulate__42__kernel__", 0, 0, 0};

enum { DEFAULT_SIZE = 512, LARGEST_SIZE = 8192, STEPS = 100, WRONG_USAGE = 2 };

/* Maximum difference from double precision, in degrees; a rounding is about 8e-6. */
#define TOLERANCE 2e-3

/* Options of the command line, and a counter. */
static int device = -1;
static int verify = 1;
static int64_t launches;

/* ---- generated code of the function with the directives -------------------------------------- */

/* Types of rows: 1 to, 2 from, 0 alloc; 32 parameter; 256 literal. */
static int simulate(float *power, float *temp, float *result, int n, int steps)
{
    int __launched = 0;
    {
        int64_t __device_id = device;
        void *__args_base[] = {power, temp, result};
        void *__args[] = {power + 0, temp + 0, result + 0};
        int64_t __arg_sizes[] = {(int64_t)sizeof(float) * n * n, (int64_t)sizeof(float) * n * n,
                                 (int64_t)sizeof(float) * n * n};
        int64_t __arg_types[] = {1, 3, 0};
        int __arg_num = 3;
        __tgt_target_data_begin(__device_id, __arg_num, __args_base, __args, __arg_sizes,
                                __arg_types);
        for (int i = 0; i < steps && __launched == 0; i++) {
            {
                int64_t __tripcount = (int64_t)n * n;
                int _threads_per_block_ = 128;
                int _num_blocks_ = (int)((__tripcount + 127) / 128);
                void *__host_ptr = (void *)&OUT__1__simulate__31__id__;
                void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
                void *__args_base_1[] = {__rex_packed_literal_arg_0, power, temp, result};
                void *__args_1[] = {__rex_packed_literal_arg_0, power, temp, result};
                int64_t __arg_sizes_1[] = {(int64_t)sizeof(int), (int64_t)sizeof(float) * n * n,
                                           (int64_t)sizeof(float) * n * n,
                                           (int64_t)sizeof(float) * n * n};
                int64_t __arg_types_1[] = {288, 32, 32, 32};
                int __arg_num_1 = 4;
                struct __tgt_kernel_arguments __kernel_args = {
                    3, __arg_num_1, __args_base_1, __args_1, __arg_sizes_1, __arg_types_1, 0, 0,
                    (int64_t)__tripcount, 0, {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
                __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                                  __host_ptr, &__kernel_args);
                launches++;
            }
            {
                int64_t __tripcount = (int64_t)n * n;
                int _threads_per_block_ = 128;
                int _num_blocks_ = (int)((__tripcount + 127) / 128);
                void *__host_ptr = (void *)&OUT__2__simulate__42__id__;
                void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
                void *__args_base_2[] = {__rex_packed_literal_arg_0, result, temp};
                void *__args_2[] = {__rex_packed_literal_arg_0, result, temp};
                int64_t __arg_sizes_2[] = {(int64_t)sizeof(int), (int64_t)sizeof(float) * n * n,
                                           (int64_t)sizeof(float) * n * n};
                int64_t __arg_types_2[] = {288, 32, 32};
                int __arg_num_2 = 3;
                struct __tgt_kernel_arguments __kernel_args = {
                    3, __arg_num_2, __args_base_2, __args_2, __arg_sizes_2, __arg_types_2, 0, 0,
                    (int64_t)__tripcount, 0, {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
                __launched |= __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_,
                                                  __host_ptr, &__kernel_args);
                launches++;
            }
        }
        __tgt_target_data_end(__device_id, __arg_num, __args_base, __args, __arg_sizes,
                              __arg_types);
    }
    return __launched;
}

/* ---- the rest of the user's program ---------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int number_option(const char *option, const char *text, int least, int most)
{
    char *end;
    errno = 0;
    long value = text != NULL ? strtol(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || errno != 0 || value < least ||
        value > most) {
        fprintf(stderr, "hotspot_raw: %s wants a whole number from %d to %d, not '%s'\n", option,
                least, most, text != NULL ? text : "");
        exit(WRONG_USAGE);
    }
    return (int)value;
}

static void print_help(void)
{
    printf(
        "usage: hotspot_raw [options]\n\n"
        "Simulates temperatures on a device of libomptarget. The program's source has the form\n"
        "of a code generator's output.\n\n"
        "  --size N          cells along an edge, 1 to %d (%d)\n"
        "  --device D        device number (-1, the default device)\n"
        "  --verify          check against a serial run (default; --no-verify: do not)\n"
        "  --help            print this text\n",
        LARGEST_SIZE, DEFAULT_SIZE);
}

static int parse_options(char **argv)
{
    int size = DEFAULT_SIZE;
    for (char **word = argv + 1; *word != NULL; word++) {
        if (strcmp(*word, "--verify") == 0 || strcmp(*word, "--no-verify") == 0) {
            verify = strcmp(*word, "--verify") == 0;
        } else if (strcmp(*word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(*word, "--size") == 0) {
            size = number_option(*word, word[1], 1, LARGEST_SIZE);
            word++;
        } else if (strcmp(*word, "--device") == 0) {
            device = number_option(*word, word[1], -1, INT32_MAX);
            word++;
        } else {
            fprintf(stderr, "hotspot_raw: there is no option '%s'; see --help\n", *word);
            exit(WRONG_USAGE);
        }
    }
    return size;
}

/* Sets warm temperatures, and the power of two busy units. */
static void set_up(float *power, float *temp, int size)
{
    for (int cell = 0; cell < size * size; cell++) {
        int row = cell / size * 16 / size, column = cell % size * 16 / size;
        temp[cell] = 80.0f + (float)(cell % 13) / 8.0f;
        power[cell] = (row == 4 && column < 6) || (row > 8 && column == 11) ? 0.25f : 0.01f;
    }
}

static int compare(const float *temp, const double *expected, int cells)
{
    double largest = 0.0;
    int wrong = 0;
    for (int cell = 0; cell < cells; cell++) {
        double difference = fabs((double)temp[cell] - expected[cell]);
        largest = fmax(largest, difference);
        wrong += !(difference <= TOLERANCE);
    }
    printf("check        %s: largest difference %.1e degrees, %.0e allowed\n",
           wrong == 0 ? "passed" : "FAILED", largest, TOLERANCE);
    return wrong == 0 ? 0 : 1;
}

/* Makes the inputs again in @result, which is scratch memory after the run, and runs serially. */
static int check(float *power, const float *temp, float *result, int size)
{
    int cells = size * size, status = 1;
    double *expected = (double *)malloc(2 * (size_t)cells * sizeof *expected);
    if (expected == NULL)
        return status;
    set_up(power, result, size);
    for (int cell = 0; cell < cells; cell++)
        expected[cell] = (double)result[cell];
    double began = seconds_now();
    simulate_serially(power, expected, expected + cells, size, STEPS);
    printf("serial run   %.6f s\n", seconds_now() - began);
    status = compare(temp, expected, cells);
    free(expected);
    return status;
}

static int run(int size, float *fields)
{
    float *power = fields, *temp = power + size * size, *result = temp + size * size;
    set_up(power, temp, size);
    double began = seconds_now();
    int status = simulate(power, temp, result, size, STEPS) == 0 ? 0 : 1;
    if (status != 0 && rex_last_error_code() == REX_OK) /* librex prints errors */
        fputs("hotspot_raw: there is no device to launch on\n", stderr);
    printf("hotspot_raw  %d x %d cells, %d steps\n", size, size, STEPS);
    printf("device       %s, LLVM %d\n",
           rex_module_on_host(&rex_this_module) ? "CPU, by libomptarget's host device"
                                                : "NVIDIA GPU",
           rex_runtime_release());
    printf("launches     %lld, with the copies %.6f s\n", (long long)launches,
           seconds_now() - began);
    if (status == 0 && verify)
        return check(power, temp, result, size);
    if (status == 0)
        puts("check        none (--no-verify)");
    return status;
}

int main(int argc, char **argv)
{
    (void)argc;
    int size = parse_options(argv);
    if (rex_offload_init() != 0)
        return 1;
    if (device >= rex_device_count()) {
        fprintf(stderr,
                "hotspot_raw: device %d does not exist: the number of devices is %d\n",
                device, rex_device_count());
        return 1;
    }
    float *fields = (float *)malloc(3 * (size_t)(size * size) * sizeof *fields);
    int status = fields != NULL ? run(size, fields) : 1;
    if (fields == NULL)
        fputs("hotspot_raw: out of memory\n", stderr);
    free(fields);
    return status;
}
