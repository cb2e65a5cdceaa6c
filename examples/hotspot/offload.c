/*
 * offload.c - hotspot's device run: one data region around many launches.
 *
 * run_region() maps five arrays once. Each step swaps the two temperature buffers: it reads the
 * buffer that the step before wrote. No row of a launch copies. At the end one update copies the
 * result from the buffer that was written last.
 *
 * The host reads no data between two steps. With --queue it puts the steps in a queue, and waits
 * only to read the extremes. Each pair of steps makes equal calls. So with --graph the program
 * captures the steps between two reports once, and launches them together (run_block()).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hotspot.h"

REX_KERNEL(hotspot_step);
REX_KERNEL(hotspot_extremes);

enum {
    THREADS = 128,
    MAX_TEAMS = 65535,
    REPORTS = 20 /* a long run reads the extremes about this often */
};

/* A run. All pointers are host addresses. In a row they stand for the device's copies. */
struct region {
    const struct chip *chip;
    struct device_run *run;
    const double *power;
    double *now;  /* current temperatures */
    double *next; /* temperatures that the next step writes */
    double *coldest;
    double *hottest;
    struct rex_graph *graph; /* an even number of steps, which swap the buffers back */
    int captured;            /* number of steps in the graph */
};

/* Returns a launch configuration for each kernel: the run's queue, if any, and a team a row. */
static struct rex_launch_config config_of(const struct region *region)
{
    int64_t size = region->chip->size, teams = size < MAX_TEAMS ? size : MAX_TEAMS;
    struct rex_launch_config config = rex_launch_config_of(NULL, teams, THREADS);
    config.device = region->run->device;
    config.queue = region->run->ways.queue;
    return config;
}

static int take_step(struct region *region)
{
    const struct chip *chip = region->chip;
    int64_t size = chip->size, cells = size * size;
    double gain = chip->step / chip->capacity, lateral = 1.0 / chip->resistance;
    double vertical = 1.0 / chip->to_ambient, began = seconds_now();
    int error = REX_LAUNCH_WITH(
        hotspot_step, config_of(region), REX_VALUE(size), REX_VALUE(gain), REX_VALUE(lateral),
        REX_VALUE(vertical), REX_VALUE(AMBIENT), REX_PRESENT(REX_ALLOC(region->power, cells)),
        REX_PRESENT(REX_ALLOC(region->now, cells)), REX_PRESENT(REX_ALLOC(region->next, cells)));
    region->run->kernel_time += seconds_now() - began;
    double *written = region->next;
    region->next = region->now;
    region->now = written;
    return error;
}

static int launch_extremes(struct region *region)
{
    int64_t size = region->chip->size;
    region->run->launches++;
    double began = seconds_now();
    int error = REX_LAUNCH_WITH(hotspot_extremes, config_of(region), REX_VALUE(size),
                                REX_PRESENT(REX_ALLOC(region->now, size * size)),
                                REX_PRESENT(REX_ALLOC(region->coldest, size)),
                                REX_PRESENT(REX_ALLOC(region->hottest, size)));
    region->run->kernel_time += seconds_now() - began;
    return error;
}

static int find_extremes(struct region *region)
{
    struct device_run *run = region->run;
    int64_t size = region->chip->size;
    /* An update copies mapped memory from the device inside the region. */
    REX_MAP(found, REX_FROM(region->coldest, size), REX_FROM(region->hottest, size));
    if (launch_extremes(region) != 0 || finish(&run->ways) != 0 ||
        rex_data_update(run->device, &found) != 0)
        return -1;
    run->coldest = region->coldest[0];
    run->hottest = region->hottest[0];
    for (int64_t row = 1; row < size; row++) {
        run->coldest = region->coldest[row] < run->coldest ? region->coldest[row] : run->coldest;
        run->hottest = region->hottest[row] > run->hottest ? region->hottest[row] : run->hottest;
    }
    return 0;
}

/* Overwrites one line of a terminal. */
static void show_progress(const struct device_run *run, int done)
{
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\riteration %d of %d, %.3f to %.3f degrees ", done, run->iterations,
            run->coldest, run->hottest);
    if (done == run->iterations)
        fputc('\n', stderr);
}

static int take_captured_steps(void *context)
{
    struct region *region = context;
    for (int i = 0; i < region->captured; i++)
        if (take_step(region) != 0)
            return -1;
    return 0;
}

/* Takes @count steps, as many as possible by the graph. */
static int run_block(struct region *region, int count)
{
    double began = seconds_now();
    region->run->launches += count;
    for (; region->graph != NULL && count >= region->captured; count -= region->captured)
        if (rex_graph_launch(region->graph, region->run->ways.queue) != 0)
            return -1;
    region->run->kernel_time += seconds_now() - began;
    for (; count > 0; count--)
        if (take_step(region) != 0)
            return -1;
    return 0;
}

static int run_iterations(struct region *region)
{
    int total = region->run->iterations;
    int between_reports = total / REPORTS > 0 ? total / REPORTS : 1;
    region->captured = between_reports / 2 * 2;
    if (region->run->ways.way == CAPTURED && region->captured > 0 &&
        capture(&region->run->ways, take_captured_steps, region, &region->graph) != 0)
        return -1;
    for (int done = 0, block; done < total;) {
        block = total - done < between_reports ? total - done : between_reports;
        if (run_block(region, block) != 0 || find_extremes(region) != 0)
            return -1;
        done += block;
        show_progress(region->run, done);
    }
    return 0;
}

/* Runs the iterations in a data region, and copies the result to region->now. */
static int run_region(struct region *region)
{
    int64_t size = region->chip->size, cells = size * size;
    int result;
    double began = seconds_now();
    /* The device writes the last three arrays before it reads them, so they need no copy. */
    REX_DATA_REGION(&result, region->run->device, REX_TO(region->now, cells),
                    REX_TO(region->power, cells), REX_ALLOC(region->next, cells),
                    REX_ALLOC(region->coldest, size), REX_ALLOC(region->hottest, size)) {
        result = run_iterations(region);
        rex_graph_destroy(region->graph); /* ignores NULL */
        REX_MAP(last, REX_FROM(region->now, cells));
        if (result == 0)
            result = rex_data_update(region->run->device, &last);
    }
    region->run->region_time = seconds_now() - began;
    return result;
}

int simulate_on_device(const struct chip *chip, const double *power, double *temp,
                       struct device_run *run)
{
    size_t cells = (size_t)(chip->size * chip->size), rows = (size_t)chip->size;
    double *scratch = malloc((cells + 2 * rows) * sizeof *scratch);
    if (scratch == NULL) {
        fputs("hotspot: out of memory\n", stderr);
        return -1;
    }
    struct region region = {
        .chip = chip,
        .run = run,
        .power = power,
        .now = temp,
        .next = scratch,
        .coldest = scratch + cells,
        .hottest = scratch + cells + rows,
    };
    run->launches = 0;
    run->kernel_time = 0.0;
    int result = open_ways(&run->ways, run->device) == 0 ? run_region(&region) : -1;
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "hotspot: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    else if (region.now != temp)
        memcpy(temp, region.now, cells * sizeof *temp);
    free(scratch);
    return result;
}
