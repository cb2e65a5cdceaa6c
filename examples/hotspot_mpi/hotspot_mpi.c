/*
 * hotspot_mpi - hotspot as an MPI program, which divides the chip among its ranks. Each rank has a
 * GPU of its own if there are enough.
 *
 * hotspot_mpi.h lists the files. offload.c shows an exchange during the computation.
 *
 * Run it:  make demo-mpi RANKS=4
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hotspot_mpi.h"

enum {
    LARGEST_PICTURE = 1024, /* cells along an edge */
    LARGEST_SIZE = 46340    /* an int counts the cells of the whole chip */
};

struct options {
    struct settings settings;
    int64_t steps;
    const char *save, *restart, *picture;
    int64_t every, through_host;
};

static void take_options(struct options *options, int argc, char **argv)
{
    const struct extra_option extra[] = {
        {"steps", "N", "total number of time steps (2000)", NULL, &options->steps, 1, INT_MAX},
        {"save", "FILE", "write the last temperatures to FILE", &options->save, NULL, 0, 0},
        {"every", "N", "with --save: write every N steps, too", NULL, &options->every, 1, INT_MAX},
        {"restart", "FILE", "continue from a file of --save, written by any number of ranks",
         &options->restart, NULL, 0, 0},
        {"through-host", "0|1", "exchange edges through host memory: always (1) or if needed (0)",
         NULL, &options->through_host, 0, 1},
        {"png", "FILE", "file for the heat map", &options->picture, NULL, 0, 0},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    options->settings = (struct settings){
        .program = "hotspot_mpi",
        .purpose = "Simulates the temperatures of a processor on several ranks, checks them\n"
                   "against a serial run of rank 0, and draws a heat map.",
        .unit = "cells along the chip's edge",
        .device_help = "device number (-1: each rank takes the next GPU)",
        .size = 512,
        .smallest = 1,
        .largest = LARGEST_SIZE,
        .extra = extra,
    };
    options->steps = 2000;
    read_options(&options->settings, argc, argv);
}

/* ---- after the run --------------------------------------------------------------------------- */

/* Returns the number of bytes that a rank sends in a step; it receives as many. */
static int64_t halo_bytes(const struct part *part)
{
    int64_t cells = 0;
    for (int i = 0; i < SIDES; i++)
        if (part->neighbours[i] != MPI_PROC_NULL)
            cells += i < 2 ? part->cells.columns : part->cells.rows;
    return cells * (int64_t)sizeof(double);
}

static void print_summary(const struct options *options, const struct part *part,
                          const struct part_run *run)
{
    int64_t size = part->chip.size, steps = run->steps - run->first;
    print_line("hotspot_mpi", "%lld x %lld cells, steps %lld to %lld, %d ranks, %d x %d parts",
               (long long)size, (long long)size, (long long)run->first + 1, (long long)run->steps,
               part->ranks, part->parts[0], part->parts[1]);
    print_run(&options->settings, run->launches, run->seconds);
    print_line("a step", "%.1f us", 1e6 * run->seconds / (double)steps);
    print_line(
        "halo",
        "%lld bytes a step, %.1f us alone; the device waits %.1f us for it after the inner part",
        (long long)halo_bytes(part), 1e6 * run->halo, 1e6 * run->waited);
    print_line("temperature", "%.3f to %.3f degrees", run->coldest, run->hottest);
}

static int draw(const struct options *options, const struct part *part, const struct part_run *run)
{
    int64_t edge = part->chip.size < LARGEST_PICTURE ? part->chip.size : LARGEST_PICTURE;
    struct caption caption = {.parts_down = part->parts[0], .parts_across = part->parts[1]};
    long long size = (long long)part->chip.size;
    char changed[PATH_MAX];
    double *cells;
    int result = gather(part, edge, &cells);
    if (result != 0 || cells == NULL)
        return result;
    const char *path = heatmap_path(options->picture, changed, sizeof changed);
    snprintf(caption.title, sizeof caption.title, "hotspot: %lld x %lld cells after %d steps", size,
             size, (int)run->steps);
    snprintf(caption.facts[0], sizeof caption.facts[0], "from %.3f to %.3f degrees", run->coldest,
             run->hottest);
    snprintf(caption.facts[1], sizeof caption.facts[1], "%d ranks, %.1f us a step", part->ranks,
             1e6 * run->seconds / (double)(run->steps - run->first));
    result = write_heatmap(path, cells, edge, &caption);
    if (result == 0)
        print_line("heat map", "%s", path);
    free(cells);
    return result;
}

/* Compares with a serial run from step 0, on rank 0. Returns 0, 1: wrong, or -1: out of memory. */
static int check_whole(const struct settings *settings, const struct part *part,
                       const struct part_run *run, const double *temp)
{
    size_t cells = (size_t)(part->chip.size * part->chip.size), wrong = 0;
    double *power = malloc(cells * sizeof *power), *expected = malloc(cells * sizeof *expected);
    double began = seconds_now(),
           allowed = TOLERANCE_PER_ITERATION * (double)run->steps * run->hottest, largest = 0.0;
    int result = -1;
    if (power != NULL && expected != NULL) {
        generate(&part->chip, expected, power);
        result = simulate_serially(&part->chip, power, expected, (int)run->steps);
    }
    if (result != 0)
        fputs("hotspot_mpi: out of memory for the serial run\n", stderr);
    for (size_t i = 0; i < cells && result == 0; i++) {
        largest = fmax(largest, fabs(temp[i] - expected[i]));
        wrong += !(fabs(temp[i] - expected[i]) <= allowed); /* NaN counts as wrong */
    }
    if (result == 0)
        result = print_check(settings, wrong == 0, seconds_now() - began,
                             "largest difference %.1e degrees, %.1e allowed", largest, allowed);
    free(power);
    free(expected);
    return result;
}

static int check(const struct settings *settings, const struct part *part,
                 const struct part_run *run)
{
    double *cells = NULL;
    int result = settings->verify ? gather(part, part->chip.size, &cells) : 0;
    if (result == 0 && part->rank == 0)
        result = settings->verify ? check_whole(settings, part, run, cells)
                                  : print_check(settings, 1, 0.0, " ");
    free(cells);
    return result;
}

/* Replaces each time by the maximum over all ranks. */
static void gather_times(const struct part *part, struct part_run *run)
{
    double times[] = {run->seconds, run->halo, run->waited};
    MPI_Allreduce(MPI_IN_PLACE, times, 3, MPI_DOUBLE, MPI_MAX, part->grid);
    run->seconds = times[0];
    run->halo = times[1];
    run->waited = times[2];
}

/* ---- the program ----------------------------------------------------------------------------- */

static int run_all(const struct options *options, struct part *part)
{
    struct part_run run = {.device = options->settings.device, .steps = options->steps,
                           .save = options->save, .every = options->every,
                           .through_host = options->through_host != 0};
    if (options->restart != NULL &&
        state_read(part, options->restart, part_cells(part, part->temp), &run.first) != 0)
        return -1;
    if (run.first >= run.steps) {
        fprintf(stderr, "hotspot_mpi: %s: it already has step %lld\n", options->restart,
                (long long)run.first);
        return -1;
    }
    if (start_offload(&options->settings) != 0 || simulate_part(part, &run) != 0)
        return -1;
    gather_times(part, &run);
    if (part->rank == 0)
        print_summary(options, part, &run);
    int result = options->picture != NULL ? draw(options, part, &run) : 0;
    return result == 0 ? check(&options->settings, part, &run) : result;
}

int main(int argc, char **argv)
{
    struct options options = {.picture = heatmap_default_path};
    struct part part;
    take_options(&options, argc, argv);
    /* Chooses this rank's GPU before MPI_Init(), because MPI could initialise another GPU. */
    if (options.settings.device < 0)
        options.settings.device = rex_device_for_rank();
    MPI_Init(&argc, &argv);
    int result = part_make(&part, options.settings.size);
    if (result == 0 && options.settings.device < 0)
        result = options.settings.device; /* librex has printed the error */
    if (result == 0)
        result = run_all(&options, &part);
    /* A rank that has failed ends the others, because they may wait for it. */
    if (result != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    part_free(&part);
    rex_offload_fini();
    MPI_Finalize();
    return 0;
}
