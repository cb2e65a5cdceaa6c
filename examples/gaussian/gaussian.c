/*
 * gaussian - solves a system of linear equations by elimination.
 *
 * A program of the Rodinia suite, on librex. It launches twice for each column of the matrix except
 * the last, and once for each unknown, all in one data region. gaussian.h lists the files.
 *
 * Run it:  make && $(make -s print-O)/examples/gaussian/gaussian --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "gaussian.h"

/*
 * Maximum difference between device and host, as a share of the largest unknown, and maximum
 * residual. Device and host add products in different orders, and a GPU fuses some operations. Each
 * rounding is at most 2.2e-16. A matrix such as the generated one may enlarge it by 4e4, and a few
 * hundred roundings add up.
 */
#define TOLERANCE 1e-9

struct inputs {
    const char *input; /* NULL: generate a system */
    const char *made;  /* file for the generated system; NULL: do not write it */
};

struct check {
    double seconds;
    double difference; /* from the serial run, as a share of the largest unknown */
    double residual;
    int64_t zero_pivot; /* the row with pivot 0, or -1 */
};

static void parse(struct settings *settings, struct inputs *inputs, int argc, char **argv)
{
    const struct extra_option extra[] = {
        {"input", "FILE", "read a system in Rodinia's format; default: generate one",
         &inputs->input, NULL, 0, 0},
        {"generate", "FILE", "write the generated system in Rodinia's format", &inputs->made, NULL,
         0, 0},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    settings->extra = extra;
    read_options(settings, argc, argv);
    settings->extra = NULL;
    if (inputs->input != NULL && settings->sized)
        wrong_usage(settings, "--size does not apply to --input, which has its own size");
    if (inputs->input != NULL && inputs->made != NULL)
        wrong_usage(settings, "--input and --generate exclude each other: give one or the other");
}

static int load(const struct settings *settings, const struct inputs *inputs,
                struct equations *system)
{
    if (inputs->input != NULL)
        return read_equations(inputs->input, system);
    if (make_equations(system, settings->size) != 0)
        return -1;
    return inputs->made != NULL ? write_equations(inputs->made, system) : 0;
}

/* Returns the largest difference of two solutions, as a share of the largest unknown. */
static double difference_of(const double *solution, const double *expected, int64_t size)
{
    double difference = 0.0, scale = 0.0;
    for (int64_t i = 0; i < size; i++) {
        double here = fabs(solution[i] - expected[i]);
        scale = fmax(scale, fabs(expected[i]));
        if (!(here <= difference)) /* true also for NaN */
            difference = here;
    }
    return scale > 0.0 ? difference / scale : difference;
}

static int check_solution(const struct equations *system, const double *solution, double *expected,
                          struct check *check)
{
    struct equations copy;
    if (copy_equations(system, &copy) != 0)
        return -1;
    double began = seconds_now();
    check->zero_pivot = solve_serially(&copy, expected);
    check->seconds = seconds_now() - began;
    check->residual = residual(system, solution);
    check->difference = difference_of(solution, expected, system->size);
    free_equations(&copy);
    return 0;
}

static int compute(const struct settings *settings, const struct inputs *inputs,
                   const struct equations *system, double *solution)
{
    struct device_run run = {.device = settings->device, .ways = {.way = settings->way}};
    struct check check = {.zero_pivot = -1};
    if (solve_on_device(system, solution, &run) != 0)
        return 1;
    if (settings->verify && check_solution(system, solution, solution + system->size, &check) != 0)
        return 1;
    print_line("gaussian", "%lld unknowns, system %s", (long long)system->size,
               inputs->input != NULL ? inputs->input : "generated");
    print_run(settings, run.launches, run.seconds);
    print_ways(&run.ways);
    if (check.zero_pivot >= 0)
        return print_check(settings, 0, check.seconds,
                           "the pivot of row %lld is 0, and this program exchanges no rows",
                           (long long)check.zero_pivot + 1);
    return print_check(
        settings, check.difference <= TOLERANCE && check.residual <= TOLERANCE, check.seconds,
        "largest difference %.1e of the largest unknown, residual %.1e, %.0e allowed",
        check.difference, check.residual, TOLERANCE);
}

static int run_all(const struct settings *settings, const struct inputs *inputs)
{
    struct equations system;
    if (load(settings, inputs, &system) != 0)
        return 1;
    double *solutions = calloc(2 * (size_t)system.size, sizeof *solutions);
    if (solutions == NULL)
        fputs("gaussian: out of memory\n", stderr);
    int status = solutions != NULL ? compute(settings, inputs, &system, solutions) : 1;
    free(solutions);
    free_equations(&system);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "gaussian",
        .purpose = "Solves a system of linear equations by elimination, on a device of\n"
                   "libomptarget, and checks the solution against a serial run and against the\n"
                   "equations.",
        .unit = "unknowns of the generated system",
        .size = 1024,
        .smallest = 1,
        .largest = MOST_UNKNOWNS,
        .has_ways = 1,
    };
    struct inputs inputs = {NULL, NULL};
    parse(&settings, &inputs, argc, argv);
    return start_offload(&settings) != 0 ? 1 : run_all(&settings, &inputs);
}
