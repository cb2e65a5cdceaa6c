/*
 * hotspot - simulates the temperatures of a processor.
 *
 * The thermal simulation of the Rodinia suite, as a complete program on librex. It reads or
 * generates a floor plan's temperatures and powers, steps the heat equation on the device, checks
 * the result against a serial run, and draws it. hotspot.h lists the files; read offload.c to learn
 * offloading.
 *
 * Run it:  make && $(make -s print-O)/examples/hotspot/hotspot --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hotspot.h"

enum {
    LARGEST_SIZE = 16384 /* a run has five fields, then of 2 GiB each */
};

/* ---- the command line ------------------------------------------------------------------------ */

struct options {
    struct settings settings;
    int64_t iterations;
    int64_t draws;                /* 0: no picture */
    const char *picture;
    const char *temp, *power;     /* files to read; NULL: generate the inputs */
    const char *generate;         /* folder for generated inputs; NULL: do not write them */
    const char *output;           /* file for the last temperatures; NULL: do not write them */
};

static void take_options(struct options *options, int argc, char **argv)
{
    const struct extra_option extra[] = {
        {"iterations", "I", "time steps (2000)", NULL, &options->iterations, 1, INT_MAX},
        {"temp", "FILE", "first temperatures: one number a line, row by row; needs --power",
         &options->temp, NULL, 0, 0},
        {"power", "FILE", "power of each cell in watts, in the form of --temp; needs --temp",
         &options->power, NULL, 0, 0},
        {"generate", "DIR", "write generated inputs to DIR/temp_N and DIR/power_N, and use them",
         &options->generate, NULL, 0, 0},
        {"output", "FILE", "write the last temperatures, in the form of --temp", &options->output,
         NULL, 0, 0},
        {"png", "FILE", "file for the heat map", &options->picture, NULL, 0, 0},
        {"no-png", NULL, "draw no heat map", NULL, &options->draws, 0, 0},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    options->settings = (struct settings){
        .program = "hotspot",
        .purpose = "Simulates the temperatures of a processor on a device of libomptarget, checks\n"
                   "them against a serial run, and draws a heat map.",
        .unit = "cells along the chip's edge",
        .size = 512,
        .smallest = 1,
        .largest = LARGEST_SIZE,
        .extra = extra,
        .has_ways = 1,
        .has_devices = 1,
    };
    options->iterations = 2000;
    options->draws = 1;
    options->picture = heatmap_default_path;
    read_options(&options->settings, argc, argv);
    if ((options->temp == NULL) != (options->power == NULL))
        wrong_usage(&options->settings, "--temp and --power go together");
    if (options->temp != NULL && options->generate != NULL)
        wrong_usage(&options->settings, "--generate excludes --temp and --power: give one way");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The model and its three fields, in one allocation. */
struct problem {
    struct chip chip;
    size_t cells;
    double *power;
    double *temp;     /* first temperatures, then the device's result */
    double *expected; /* first temperatures, then the result of the serial run */
};

static int allocate(struct problem *problem, int64_t size)
{
    problem->chip = chip_model(size);
    problem->cells = (size_t)(size * size);
    problem->power = malloc(3 * problem->cells * sizeof(double));
    if (problem->power == NULL) {
        fprintf(stderr, "hotspot: out of memory for %zu cells\n", problem->cells);
        return -1;
    }
    problem->temp = problem->power + problem->cells;
    problem->expected = problem->temp + problem->cells;
    return 0;
}

static int read_inputs(struct problem *problem, const char *temp_path, const char *power_path)
{
    if (read_values(temp_path, problem->temp, problem->cells) != 0)
        return -1;
    return read_values(power_path, problem->power, problem->cells);
}

/* Writes generated inputs to @folder and reads them back, as another run would read them. */
static int generate_inputs(struct problem *problem, const char *folder)
{
    char temp_path[PATH_MAX], power_path[PATH_MAX];
    long long size = (long long)problem->chip.size;
    if (snprintf(temp_path, PATH_MAX, "%s/temp_%lld", folder, size) >= PATH_MAX ||
        snprintf(power_path, PATH_MAX, "%s/power_%lld", folder, size) >= PATH_MAX)
        errno = ENAMETOOLONG;
    else if (mkdir(folder, 0777) == 0)
        errno = EEXIST;
    if (errno != EEXIST) {
        fprintf(stderr, "hotspot: %s: %s\n", folder, strerror(errno));
        return -1;
    }
    generate(&problem->chip, problem->temp, problem->power);
    if (write_values(temp_path, problem->temp, problem->cells) != 0 ||
        write_values(power_path, problem->power, problem->cells) != 0)
        return -1;
    return read_inputs(problem, temp_path, power_path);
}

static int load_inputs(struct problem *problem, const struct options *options)
{
    int result = 0;
    if (options->temp != NULL)
        result = read_inputs(problem, options->temp, options->power);
    else if (options->generate != NULL)
        result = generate_inputs(problem, options->generate);
    else
        generate(&problem->chip, problem->temp, problem->power);
    if (result == 0)
        memcpy(problem->expected, problem->temp, problem->cells * sizeof *problem->temp);
    return result;
}

/* ---- the check ------------------------------------------------------------------------------- */

struct check {
    double serial_time; /* s */
    double difference;  /* largest, degrees */
    double tolerance;   /* degrees */
    int fields_agree;   /* every cell is within the tolerance */
    int extremes_agree; /* the second kernel found the field's extremes */
};

static int passed(const struct check *check)
{
    return check->fields_agree && check->extremes_agree;
}

static int check_result(struct problem *problem, const struct device_run *run, struct check *check)
{
    double began = seconds_now(), *expected = problem->expected;
    if (simulate_serially(&problem->chip, problem->power, expected, run->iterations) != 0) {
        fputs("hotspot: out of memory for the serial run\n", stderr);
        return -1;
    }
    check->serial_time = seconds_now() - began;

    double largest = 0.0, coldest = problem->temp[0], hottest = problem->temp[0];
    size_t wrong = 0;
    for (size_t i = 0; i < problem->cells; i++)
        largest = fmax(largest, fabs(expected[i]));
    check->tolerance = TOLERANCE_PER_ITERATION * run->iterations * largest;
    for (size_t i = 0; i < problem->cells; i++) {
        double difference = fabs(problem->temp[i] - expected[i]);
        check->difference = fmax(check->difference, difference);
        /* Not `difference > tolerance`, which is false for NaN. */
        wrong += !(difference <= check->tolerance);
        coldest = fmin(coldest, problem->temp[i]);
        hottest = fmax(hottest, problem->temp[i]);
    }
    check->fields_agree = wrong == 0 && isfinite(largest);
    /* The second kernel only selects values, so its result is exact. */
    check->extremes_agree = coldest == run->coldest && hottest == run->hottest;
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Simulates on one device, or on several and prints lines about them. */
static int simulate(const struct settings *settings, struct problem *problem,
                    struct device_run *run)
{
    struct shares shares;
    if (settings->devices == ONE_DEVICE)
        return simulate_on_device(&problem->chip, problem->power, problem->temp, run);
    int result = open_shares(&shares, settings, problem->chip.size);
    if (result == 0)
        result = simulate_on_devices(&problem->chip, problem->power, problem->temp, run, &shares);
    if (result == 0) {
        print_shares(&shares, "rows");
        print_digest(problem->temp, problem->cells * sizeof *problem->temp);
    }
    close_shares(&shares);
    return result;
}

static void print_summary(const struct options *options, const struct problem *problem,
                          const struct device_run *run, const struct check *check)
{
    long long size = (long long)problem->chip.size;
    print_line("hotspot", "%lld x %lld cells, %d iterations, inputs %s", size, size,
               run->iterations, options->temp != NULL ? "from files" : "generated");
    print_device(&options->settings);
    print_line("launches", "%lld, %.3f s, %.1f us each; with the copies %.6f s",
               (long long)run->launches, run->kernel_time,
               1e6 * run->kernel_time / (double)run->launches, run->region_time);
    print_ways(&run->ways);
    print_line("temperature", "%.3f to %.3f degrees", run->coldest, run->hottest);
    if (options->draws)
        print_line("heat map", "%s", options->picture);
    if (!options->settings.verify) {
        print_line("check", "none (--no-verify)");
        return;
    }
    print_line("serial run", "%.3f s", check->serial_time);
    print_line("check", "%s: largest difference %.1e degrees, %.1e allowed%s",
               passed(check) ? "passed" : "FAILED", check->difference, check->tolerance,
               check->extremes_agree ? "" : "; extremes of the rows are wrong");
}

static int draw(const char *path, const struct problem *problem, const struct device_run *run)
{
    struct caption caption = {.parts_down = 0};
    long long size = (long long)problem->chip.size;
    snprintf(caption.title, sizeof caption.title, "hotspot: %lld x %lld cells after %d steps", size,
             size, run->iterations);
    snprintf(caption.facts[0], sizeof caption.facts[0], "from %.3f to %.3f degrees", run->coldest,
             run->hottest);
    snprintf(caption.facts[1], sizeof caption.facts[1], "%lld launches on the %s, %.1f us each",
             (long long)run->launches, rex_on_host() ? "CPU" : "GPU",
             1e6 * run->kernel_time / (double)run->launches);
    return write_heatmap(path, problem->temp, problem->chip.size, &caption);
}

/* Runs, checks, writes and draws, and prints the summary. */
static int run_all(const struct options *options, struct problem *problem, struct device_run *run)
{
    struct check check = {0};
    int verify = options->settings.verify;
    if (simulate(&options->settings, problem, run) != 0)
        return -1;
    if (verify && check_result(problem, run, &check) != 0)
        return -1;
    if (options->output != NULL &&
        write_values(options->output, problem->temp, problem->cells) != 0)
        return -1;
    if (options->draws && draw(options->picture, problem, run) != 0)
        return -1;
    print_summary(options, problem, run, &check);
    return verify && !passed(&check) ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct problem problem;
    char changed[PATH_MAX];
    take_options(&options, argc, argv);
    if (options.draws)
        options.picture = heatmap_path(options.picture, changed, sizeof changed);
    struct device_run run = {.device = options.settings.device,
                             .ways = {.way = options.settings.way},
                             .iterations = (int)options.iterations};

    int result = allocate(&problem, options.settings.size);
    if (result == 0)
        result = load_inputs(&problem, &options);
    if (result == 0)
        result = start_offload(&options.settings);
    if (result == 0)
        result = run_all(&options, &problem, &run);
    free(problem.power);
    return result == 0 ? 0 : 1;
}
