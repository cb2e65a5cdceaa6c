/*
 * offload.c - hotspot's device run: one data region around many launches.
 *
 * What to look at: simulate_on_device() maps five arrays once. Each launch then names the two temperature buffers in
 * the order it wants them, so that what one step writes the next one reads, and no row asks for a copy. The result is
 * fetched at the end by one update, from whichever buffer holds it.
 *
 * The host needs nothing from a step but that it came in its turn: with --queue it puts steps in a queue and waits where it wants the
 * extremes. Two steps make the same calls as the two before them, so with --graph it captures the steps from one report to the
 * next once, and launches them as one (run_block()).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hotspot.h"

REX_KERNEL(hotspot_step);
REX_KERNEL(hotspot_extremes);

/* Map types of rows; examples/08_raw_packet explains the bits. */
enum {
    MAP_ALLOC = 0x0,
    MAP_TO = 0x1,
    MAP_FROM = 0x2,
    MAP_PARAMETER = 0x20,
    MAP_LITERAL = 0x120
};

enum {
    THREADS = 128,
    MAX_TEAMS = 65535,
    REPORTS = 20 /* how often in a run the extremes are looked at */
};

/* A run that is under way. All pointers are host addresses, which stand for the device's copies in every row. */
struct region {
    const struct chip *chip;
    struct device_run *run;
    double *power;
    double *now;  /* the temperatures as they are */
    double *next; /* where the next step writes them */
    double *coldest;
    double *hottest;
    struct rex_graph *graph; /* of an even number of steps, so that the buffers are as they were; NULL: none */
    int captured;            /* that number */
};

int offload_start(int device)
{
    if (rex_offload_init() != 0)
        return -1;
    if (device >= rex_device_count()) {
        fprintf(stderr, "hotspot: there is no device %d: librex has found %d, numbered from 0\n", device,
                rex_device_count());
        return -1;
    }
    return 0;
}

void offload_stop(void)
{
    rex_offload_fini();
}

void print_device(int device)
{
    int on_host = rex_module_on_host(&rex_this_module);
    printf("LLVM         %d, %s\n", rex_runtime_release(), rex_runtime_path());
    printf("device       %s, ", on_host ? "CPU, by libomptarget's host device" : "NVIDIA GPU");
    if (device < 0)
        printf("the default of %d\n", rex_device_count());
    else
        printf("number %d of %d\n", device, rex_device_count());
    printf("image        %s\n", rex_module_image_path(&rex_this_module));
}

/* As a packet for libomptarget, or, in a queue, from the same four columns as a map. */
static int start(struct region *region, void *kernel, struct __tgt_kernel_arguments *args)
{
    struct rex_queue *queue = region->run->ways.queue;
    struct rex_launch_config launch = rex_launch_config_of(kernel, (uint32_t)args->Teams[0], THREADS);
    struct rex_map map = {.count = args->NumArgs, .base = args->ArgsBase, .begin = args->Args, .sizes = args->ArgSizes,
                          .types = args->ArgTypes};
    launch.queue = queue;
    return queue != NULL ? rex_launch(&launch, &map)
                         : __tgt_target_kernel(region->run->device, args->Teams[0], THREADS, kernel, args);
}

static int run_kernel(struct region *region, void *kernel, int32_t rows, void **address, int64_t *sizes, int64_t *types)
{
    int64_t size = region->chip->size;
    struct __tgt_kernel_arguments args = {
        .Version = 3,
        .NumArgs = rows,
        .ArgsBase = address,
        .Args = address,
        .ArgSizes = sizes,
        .ArgTypes = types,
        .Tripcount = size * size,
        .Teams = {(int32_t)(size < MAX_TEAMS ? size : MAX_TEAMS), 1, 1},
        .Threads = {THREADS, 1, 1},
    };
    double began = seconds_now();
    int result = start(region, kernel, &args);
    region->run->kernel_time += seconds_now() - began;
    return result;
}

static void *packed_double(double value)
{
    return rex_pack_literal_arg_bytes(&value, sizeof value);
}

static void *packed_int(int64_t value)
{
    return rex_pack_literal_arg_bytes(&value, sizeof value);
}

static int take_step(struct region *region)
{
    const struct chip *chip = region->chip;
    int64_t bytes = chip->size * chip->size * (int64_t)sizeof(double);
    void *address[] = {packed_int(chip->size),
                       packed_double(chip->step / chip->capacity),
                       packed_double(1.0 / chip->resistance),
                       packed_double(1.0 / chip->to_ambient),
                       packed_double(AMBIENT),
                       region->power,
                       region->now,
                       region->next};
    int64_t sizes[] = {8, 8, 8, 8, 8, bytes, bytes, bytes};
    int64_t types[] = {MAP_LITERAL, MAP_LITERAL,   MAP_LITERAL,   MAP_LITERAL,
                       MAP_LITERAL, MAP_PARAMETER, MAP_PARAMETER, MAP_PARAMETER};
    if (run_kernel(region, REX_KERNEL_ID(hotspot_step), 8, address, sizes, types) != 0)
        return -1;
    double *written = region->next;
    region->next = region->now;
    region->now = written;
    return 0;
}

/* Copies mapped rows from the device while the region goes on. */
static void fetch(struct region *region, int32_t rows, void **address, int64_t *sizes)
{
    int64_t types[] = {MAP_FROM, MAP_FROM};
    __tgt_target_data_update(region->run->device, rows, address, address, sizes, types);
}

static int find_extremes(struct region *region)
{
    int64_t size = region->chip->size;
    int64_t row_bytes = size * (int64_t)sizeof(double);
    void *address[] = {packed_int(size), region->now, region->coldest, region->hottest};
    int64_t sizes[] = {8, size * row_bytes, row_bytes, row_bytes};
    int64_t types[] = {MAP_LITERAL, MAP_PARAMETER, MAP_PARAMETER, MAP_PARAMETER};
    region->run->launches++;
    if (run_kernel(region, REX_KERNEL_ID(hotspot_extremes), 4, address, sizes, types) != 0 || finish(&region->run->ways) != 0)
        return -1;
    fetch(region, 2, &address[2], &sizes[2]);

    struct device_run *run = region->run;
    run->coldest = region->coldest[0];
    run->hottest = region->hottest[0];
    for (int64_t row = 1; row < size; row++) {
        run->coldest = region->coldest[row] < run->coldest ? region->coldest[row] : run->coldest;
        run->hottest = region->hottest[row] > run->hottest ? region->hottest[row] : run->hottest;
    }
    return 0;
}

/* One line, written over and over, on a terminal only. */
static void show_progress(const struct device_run *run, int done)
{
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\riteration %d of %d, %.3f to %.3f degrees ", done, run->iterations, run->coldest, run->hottest);
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

/* COUNT steps: as many of them as may be by the graph. */
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

/* The region itself: begin, the iterations, fetch the result into region->now, end. */
static int run_region(struct region *region)
{
    int64_t row_bytes = region->chip->size * (int64_t)sizeof(double);
    int64_t field_bytes = region->chip->size * row_bytes;
    void *address[] = {region->now, region->power, region->next, region->coldest, region->hottest};
    int64_t sizes[] = {field_bytes, field_bytes, field_bytes, row_bytes, row_bytes};
    /* The last three are written on the device before anything reads them: memory, and no copy. */
    int64_t types[] = {MAP_TO, MAP_TO, MAP_ALLOC, MAP_ALLOC, MAP_ALLOC};

    double began = seconds_now();
    __tgt_target_data_begin(region->run->device, 5, address, address, sizes, types);
    int result = run_iterations(region);
    rex_graph_destroy(region->graph); /* NULL is left alone */
    if (result == 0) {
        void *last = region->now;
        fetch(region, 1, &last, &field_bytes);
    }
    __tgt_target_data_end(region->run->device, 5, address, address, sizes, types);
    region->run->region_time = seconds_now() - began;
    return result;
}

int simulate_on_device(const struct chip *chip, const double *power, double *temp, struct device_run *run)
{
    size_t cells = (size_t)(chip->size * chip->size), rows = (size_t)chip->size;
    double *scratch = malloc((cells + 2 * rows) * sizeof *scratch);
    if (scratch == NULL) {
        fputs("hotspot: out of memory\n", stderr);
        return -1;
    }
    /* The columns have no const; power is mapped to the device only, so nothing writes to it. */
    struct region region = {
        .chip = chip,
        .run = run,
        .power = (double *)(uintptr_t)power,
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
        fprintf(stderr, "hotspot: launch %lld failed\n", (long long)run->launches);
    else if (region.now != temp)
        memcpy(temp, region.now, cells * sizeof *temp);
    free(scratch);
    return result;
}
