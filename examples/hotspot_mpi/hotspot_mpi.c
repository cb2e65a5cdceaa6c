/*
 * hotspot_mpi - hotspot, its chip divided among the ranks of an MPI program, each with a GPU of its
 * own where there are enough.
 *
 * See hotspot_mpi.h for the files; read offload.c for the exchange beside the computation.
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
    LARGEST_SIZE = 46340    /* the cells of the whole chip are counted in an int */
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
        {"steps", "N", "time steps in all (2000)", NULL, &options->steps, 1, INT_MAX},
        {"save", "FILE", "write the last temperatures, to go on from", &options->save, NULL, 0, 0},
        {"every", "N", "write them every N steps as well", NULL, &options->every, 1, INT_MAX},
        {"restart", "FILE", "go on from such a file, written by any number of ranks",
         &options->restart, NULL, 0, 0},
        {"through-host", "0|1", "1: exchange edges through the host, whatever MPI takes", NULL,
         &options->through_host, 0, 1},
        {"png", "FILE", "where the heat map goes", &options->picture, NULL, 0, 0},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    options->settings = (struct settings){
        .program = "hotspot_mpi",
        .purpose = "Simulates the temperatures of a processor, whose parts are on several ranks,\n"
                   "checks them against a serial run of rank 0, and draws a heat map.",
        .unit = "cells along the chip's edge",
        .size = 512,
        .smallest = 1,
        .largest = LARGEST_SIZE,
        .extra = extra,
    };
    options->steps = 2000;
    read_options(&options->settings, argc, argv);
}

/* ---- the end of it --------------------------------------------------------------------------- */

/* The bytes that rank 0 sends in a step, and receives. */
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
        "%lld bytes a step, %.1f us alone; beside the inner part the device waits %.1f us for it",
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

/* Rank 0 alone, from the beginning: 0, 1 where the check fails, -1 without memory for it. */
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
        wrong += !(fabs(temp[i] - expected[i]) <= allowed); /* also where it is no number */
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

/* The times of the slowest rank. */
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
        fprintf(stderr, "hotspot_mpi: %s is of step %lld already\n", options->restart,
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
    /* Which GPU is this rank's: known before MPI is asked, which could start another one. */
    if (options.settings.device < 0)
        options.settings.device = rex_device_for_rank();
    MPI_Init(&argc, &argv);
    int result = part_make(&part, options.settings.size);
    if (result == 0 && options.settings.device < 0)
        result = options.settings.device; /* librex has said why */
    if (result == 0)
        result = run_all(&options, &part);
    /* A rank that has failed ends the others, which may be waiting for it. */
    if (result != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    part_free(&part);
    rex_offload_fini();
    MPI_Finalize();
    return 0;
}
