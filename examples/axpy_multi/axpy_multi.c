/*
 * axpy_multi - calls three kernels over two vectors many times.
 *
 * axpy_multi.h lists the files.
 *
 * Run it:  make && $(make -s print-O)/examples/axpy_multi/axpy_multi --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "axpy_multi.h"

static void set_up(struct vectors vectors)
{
    for (int64_t i = 0; i < vectors.count; i++) {
        vectors.x[i] = (double)(i % 1000);
        vectors.y[i] = (double)(i % 17);
    }
}

/* Runs serially in @expected, and returns the number of elements of @vectors that differ. */
static int64_t count_wrong(struct vectors vectors, struct vectors expected, int rounds,
                           double *seconds)
{
    int64_t wrong = 0;
    set_up(expected);
    double began = seconds_now();
    run_serially(expected, rounds);
    *seconds = seconds_now() - began;
    for (int64_t i = 0; i < vectors.count; i++)
        wrong += vectors.x[i] != expected.x[i] || vectors.y[i] != expected.y[i];
    return wrong;
}

static int compute(const struct settings *settings, int rounds, double *memory)
{
    int64_t count = settings->size, wrong = 0;
    struct vectors vectors = {count, memory, memory + count};
    struct vectors expected = {count, memory + 2 * count, memory + 3 * count};
    struct device_run run = {.device = settings->device, .rounds = rounds};
    double serial_seconds = 0.0;
    set_up(vectors);
    if (run_on_device(vectors, &run) != 0)
        return 1;
    if (settings->verify)
        wrong = count_wrong(vectors, expected, rounds, &serial_seconds);
    print_line(program_name, "%lld elements, %d rounds of four launches", (long long)count, rounds);
    print_run(settings, run.launches, run.seconds);
    return print_check(settings, wrong == 0, serial_seconds, "%lld of %lld elements wrong",
                       (long long)wrong, (long long)count);
}

int main(int argc, char **argv)
{
    int64_t rounds = 10;
    const struct extra_option extra[] = {
        {"rounds", "R", "number of rounds of kernel calls, 1 to 32 (10)", NULL, &rounds, 1,
         MOST_ROUNDS},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct settings settings = {
        .program = program_name,
        .purpose = "Scales a vector, adds multiples of it to a second vector, and adds a number\n"
                   "to that vector, on a device of libomptarget. Checks the result against a\n"
                   "serial run.",
        .unit = "elements of a vector",
        .size = 1000000,
        .smallest = 1,
        .largest = 1 << 28,
        .extra = extra,
    };
    read_options(&settings, argc, argv);
    if (start_offload(&settings) != 0)
        return 1;
    double *memory = malloc(4 * (size_t)settings.size * sizeof *memory);
    if (memory == NULL)
        fprintf(stderr, "%s: out of memory\n", program_name);
    int status = memory != NULL ? compute(&settings, (int)rounds, memory) : 1;
    free(memory);
    return status;
}
