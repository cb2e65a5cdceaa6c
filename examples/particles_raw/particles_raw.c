/*
 * particles_raw - a map whose length is only known at run time, as a compiler writes it.
 *
 * A source-to-source compiler generates this code for
 *
 *     #pragma omp declare mapper(struct swarm s) \
 *             map(tofrom: s, s.position[0:s.count], s.velocity[0:s.count])
 *     #pragma omp target data map(tofrom: swarm[0:n]) map(from: energy[0:n])
 *
 * The generated code needs only rex_kmp.h. The code counts the rows, allocates each column, and
 * fills the columns by an index. Then it begins the region, runs the body with its kernels, ends
 * the region, and frees the columns. examples/particles does this with librex's macros, for a
 * larger model.
 *
 * Run it:  make && $(make -s print-O)/examples/particles_raw/particles_raw --help
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

#include "swarm.h"

char OUT__1__simulate__34__id__ = 0;
struct __tgt_offload_entry OUT__1__simulate__34__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__simulate__34__id__, (char *)"OUT__1__simulate__34__kernel__", 0, 0, 0};
char OUT__2__simulate__39__id__ = 0;
struct __tgt_offload_entry OUT__2__simulate__39__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__2__simulate__39__id__, (char *)"OUT__2__simulate__39__kernel__", 0, 0, 0};
char OUT__3__simulate__45__id__ = 0;
struct __tgt_offload_entry OUT__3__simulate__45__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__3__simulate__45__id__, (char *)"OUT__3__simulate__45__kernel__", 0, 0, 0};

enum {
    DEFAULT_SWARMS = 1024,
    MOST_SWARMS = 1 << 20,
    MOST_PARTICLES = 64, /* maximum in a swarm */
    STEPS = 100,
    WRONG_USAGE = 2
};

static const double step = 0.01;

/* Options of the command line, and a counter. */
static int device = -1;
static int verify = 1;
static int64_t launches;

/* ---- generated code of the function with the directives -------------------------------------- */

/*
 * Types of rows: 3 tofrom, 0 alloc, 2 from; 16 attached; 1 << 48 member of row 0; 32 parameter; 256
 * literal.
 */
static int simulate(struct swarm *swarm, int64_t n, double *energy)
{
    int __launched = 0;
    int64_t __device_id = device;

    /* Two rows do not depend on the data: the array, before its elements, and the energies. */
    int64_t __arg_num = 1 + 1;
    for (int64_t __i = 0; __i < n; __i++)
        __arg_num += 3;

    void **__args_base = (void **)malloc(sizeof(void *) * (size_t)__arg_num);
    void **__args = (void **)malloc(sizeof(void *) * (size_t)__arg_num);
    int64_t *__arg_sizes = (int64_t *)malloc(sizeof(int64_t) * (size_t)__arg_num);
    int64_t *__arg_types = (int64_t *)malloc(sizeof(int64_t) * (size_t)__arg_num);
    if (__args_base == NULL || __args == NULL || __arg_sizes == NULL || __arg_types == NULL) {
        free(__arg_types);
        free(__arg_sizes);
        free(__args);
        free(__args_base);
        return -1;
    }

    int64_t __arg_index = 0;
    __args_base[__arg_index] = swarm;
    __args[__arg_index] = swarm;
    __arg_sizes[__arg_index] = (int64_t)sizeof(struct swarm) * n;
    __arg_types[__arg_index] = 0;
    __arg_index++;
    for (int64_t __i = 0; __i < n; __i++) {
        __args_base[__arg_index] = &swarm[__i];
        __args[__arg_index] = &swarm[__i];
        __arg_sizes[__arg_index] = (int64_t)sizeof(struct swarm);
        __arg_types[__arg_index] = 281474976710659;
        __arg_index++;
        __args_base[__arg_index] = &swarm[__i].position;
        __args[__arg_index] = swarm[__i].position;
        __arg_sizes[__arg_index] = (int64_t)sizeof(double) * swarm[__i].count;
        __arg_types[__arg_index] = 281474976710675;
        __arg_index++;
        __args_base[__arg_index] = &swarm[__i].velocity;
        __args[__arg_index] = swarm[__i].velocity;
        __arg_sizes[__arg_index] = (int64_t)sizeof(double) * swarm[__i].count;
        __arg_types[__arg_index] = 281474976710675;
        __arg_index++;
    }
    __args_base[__arg_index] = energy;
    __args[__arg_index] = energy;
    __arg_sizes[__arg_index] = (int64_t)sizeof(double) * n;
    __arg_types[__arg_index] = 2;
    __arg_index++;

    __tgt_target_data_begin(__device_id, (int32_t)__arg_num, __args_base, __args, __arg_sizes,
                            __arg_types);
    {
        int __threads_per_block = 128;
        int __num_blocks = (int)((n + 127) / 128);
        for (int i = 0; i < STEPS && __launched == 0; i++) {
            {
                void *__host_ptr = (void *)&OUT__1__simulate__34__id__;
                void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
                void *__rex_packed_literal_arg_1 =
                    rex_pack_literal_arg_bytes(&step, sizeof(double));
                void *__args_base_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1,
                                         swarm};
                void *__args_1[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, swarm};
                int64_t __arg_sizes_1[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                           (int64_t)sizeof(struct swarm) * n};
                int64_t __arg_types_1[] = {288, 288, 32};
                struct __tgt_kernel_arguments __kernel_args = {
                    3, 3, __args_base_1, __args_1, __arg_sizes_1, __arg_types_1, 0, 0, (int64_t)n,
                    0, {__num_blocks, 1, 1}, {__threads_per_block, 1, 1}, 0};
                __launched |= __tgt_target_kernel(__device_id, __num_blocks, __threads_per_block,
                                                  __host_ptr, &__kernel_args);
                launches++;
            }
            {
                void *__host_ptr = (void *)&OUT__2__simulate__39__id__;
                void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
                void *__rex_packed_literal_arg_1 =
                    rex_pack_literal_arg_bytes(&step, sizeof(double));
                void *__args_base_2[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1,
                                         swarm};
                void *__args_2[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1, swarm};
                int64_t __arg_sizes_2[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(double),
                                           (int64_t)sizeof(struct swarm) * n};
                int64_t __arg_types_2[] = {288, 288, 32};
                struct __tgt_kernel_arguments __kernel_args = {
                    3, 3, __args_base_2, __args_2, __arg_sizes_2, __arg_types_2, 0, 0, (int64_t)n,
                    0, {__num_blocks, 1, 1}, {__threads_per_block, 1, 1}, 0};
                __launched |= __tgt_target_kernel(__device_id, __num_blocks, __threads_per_block,
                                                  __host_ptr, &__kernel_args);
                launches++;
            }
        }
        {
            void *__host_ptr = (void *)&OUT__3__simulate__45__id__;
            void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
            void *__args_base_3[] = {__rex_packed_literal_arg_0, swarm, energy};
            void *__args_3[] = {__rex_packed_literal_arg_0, swarm, energy};
            int64_t __arg_sizes_3[] = {(int64_t)sizeof(int64_t), (int64_t)sizeof(struct swarm) * n,
                                       (int64_t)sizeof(double) * n};
            int64_t __arg_types_3[] = {288, 32, 32};
            struct __tgt_kernel_arguments __kernel_args = {
                3, 3, __args_base_3, __args_3, __arg_sizes_3, __arg_types_3, 0, 0, (int64_t)n, 0,
                {__num_blocks, 1, 1}, {__threads_per_block, 1, 1}, 0};
            __launched |= __tgt_target_kernel(__device_id, __num_blocks, __threads_per_block,
                                              __host_ptr, &__kernel_args);
            launches++;
        }
    }
    __tgt_target_data_end(__device_id, (int32_t)__arg_num, __args_base, __args, __arg_sizes,
                          __arg_types);
    free(__arg_types);
    free(__arg_sizes);
    free(__args);
    free(__args_base);
    return __launched;
}

/* ---- the rest of the user's program ---------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t number_option(const char *option, const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long value = text != NULL ? strtoll(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || errno != 0 || value < least ||
        value > most) {
        fprintf(stderr, "particles_raw: %s wants a whole number from %lld to %lld, not '%s'\n",
                option, (long long)least, (long long)most, text != NULL ? text : "");
        exit(WRONG_USAGE);
    }
    return value;
}

static void print_help(void)
{
    printf(
        "usage: particles_raw [options]\n\n"
        "Moves particles on springs on a device of libomptarget. The program's source has the\n"
        "form of a code generator's output.\n\n"
        "  --size N          swarms, 1 to %d (%d)\n"
        "  --device D        device number (-1, the default device)\n"
        "  --verify          check against a serial run (default; --no-verify: do not)\n"
        "  --help            print this text\n",
        MOST_SWARMS, DEFAULT_SWARMS);
}

static int64_t parse_options(char **argv)
{
    int64_t size = DEFAULT_SWARMS;
    for (char **word = argv + 1; *word != NULL; word++) {
        if (strcmp(*word, "--verify") == 0 || strcmp(*word, "--no-verify") == 0) {
            verify = strcmp(*word, "--verify") == 0;
        } else if (strcmp(*word, "--help") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(*word, "--size") == 0) {
            size = number_option(*word, word[1], 1, MOST_SWARMS);
            word++;
        } else if (strcmp(*word, "--device") == 0) {
            device = (int)number_option(*word, word[1], -1, INT32_MAX);
            word++;
        } else {
            fprintf(stderr, "particles_raw: there is no option '%s'; see --help\n", *word);
            exit(WRONG_USAGE);
        }
    }
    return size;
}

static void free_swarms(struct swarm *swarm, int64_t swarms)
{
    for (int64_t i = 0; swarm != NULL && i < swarms; i++) {
        free(swarm[i].position);
        free(swarm[i].velocity);
    }
    free(swarm);
}

static struct swarm *make_swarms(int64_t swarms)
{
    struct swarm *swarm = (struct swarm *)calloc((size_t)swarms, sizeof *swarm);
    for (int64_t i = 0; swarm != NULL && i < swarms; i++) {
        struct swarm *one = &swarm[i];
        one->count = 1 + i * 37 % MOST_PARTICLES;
        one->stiffness = 0.5 + (double)(i % 11) / 11.0;
        one->position = (double *)malloc((size_t)one->count * sizeof *one->position);
        one->velocity = (double *)malloc((size_t)one->count * sizeof *one->velocity);
        if (one->position == NULL || one->velocity == NULL) {
            free_swarms(swarm, swarms);
            return NULL;
        }
        for (int64_t k = 0; k < one->count; k++) {
            one->position[k] = (double)((i + 7 * k) % 19) / 19.0;
            one->velocity[k] = (double)((3 * i + k) % 23) / 23.0 - 0.5;
        }
    }
    return swarm;
}

/* Returns the number of wrong values. Other orders of summation may cause some roundings. */
static int64_t count_wrong(const double *values, const double *expected, int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += !(fabs(values[i] - expected[i]) <= 1e-11 * (1.0 + fabs(expected[i])));
    return wrong;
}

static int check(const struct swarm *swarm, const double *energy, int64_t swarms)
{
    struct swarm *expected = make_swarms(swarms);
    double *energies = (double *)malloc((size_t)swarms * sizeof *energies);
    int64_t wrong = -1;
    if (expected != NULL && energies != NULL) {
        double began = seconds_now();
        simulate_serially(expected, swarms, STEPS, step, energies);
        printf("serial run   %.6f s\n", seconds_now() - began);
        wrong = count_wrong(energy, energies, swarms);
        for (int64_t i = 0; i < swarms; i++)
            wrong += count_wrong(swarm[i].position, expected[i].position, swarm[i].count) +
                     count_wrong(swarm[i].velocity, expected[i].velocity, swarm[i].count);
        printf("check        %s: %lld values wrong\n", wrong == 0 ? "passed" : "FAILED",
               (long long)wrong);
    }
    free_swarms(expected, swarms);
    free(energies);
    return wrong == 0 ? 0 : 1;
}

static int run(int64_t swarms)
{
    struct swarm *swarm = make_swarms(swarms);
    double *energy = (double *)malloc((size_t)swarms * sizeof *energy);
    int status = 1;
    if (swarm != NULL && energy != NULL) {
        double began = seconds_now();
        status = simulate(swarm, swarms, energy) == 0 ? 0 : 1;
        if (status != 0 && rex_last_error_code() == REX_OK) /* librex prints errors */
            fputs("particles_raw: there is no device to launch on\n", stderr);
        printf("particles_raw %lld swarms, %d steps\n", (long long)swarms, STEPS);
        printf("device       %s, LLVM %d\n",
               rex_module_on_host(&rex_this_module) ? "CPU, by libomptarget's host device"
                                                    : "NVIDIA GPU",
               rex_runtime_release());
        printf("launches     %lld, with the copies %.6f s\n", (long long)launches,
               seconds_now() - began);
    }
    if (status == 0 && verify)
        status = check(swarm, energy, swarms);
    else if (status == 0)
        puts("check        none (--no-verify)");
    free_swarms(swarm, swarms);
    free(energy);
    return status;
}

int main(int argc, char **argv)
{
    (void)argc;
    int64_t swarms = parse_options(argv);
    if (rex_offload_init() != 0)
        return 1;
    if (device >= rex_device_count()) {
        fprintf(stderr,
                "particles_raw: device %d does not exist: the number of devices is %d\n",
                device, rex_device_count());
        return 1;
    }
    return run(swarms);
}
