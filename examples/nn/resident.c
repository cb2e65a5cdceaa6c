/*
 * resident.c - nn's device run with --queue and --graph: all records are read first and mapped once, and the launches, still one for each
 * window of at most ten, are not waited for.
 *
 * What to look at: launch_windows(). A launch here brings nothing and fetches nothing, so the host is through with it in the two
 * microseconds that a launch takes, and waits once for all of them; as a graph they take half of that each, if somebody wants the same
 * distances again. The price is memory for all records.
 *
 * With --resident 0 the copies of a window go through the queue before and behind its launch: two copies for a launch cost more than the
 * launch, and still nobody waits for any of them. Copies that nobody waits for want pinned memory, hence rex_pin().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

REX_KERNEL_DECLARE(nn_distances);

enum {
    THREADS = 32 /* one warp: there are ten records */
};

/* All records, and the windows in which they were read. */
struct all {
    const struct query *query;
    struct device_run *run;
    int64_t count, room;
    char (*text)[RECORD_LENGTH];
    struct place *places;
    double *squared;
    int64_t windows, window_room;
    int *window; /* records in each */
};

static int grow(void **array, size_t size, int64_t room)
{
    void *more = realloc(*array, (size_t)room * size);
    if (more == NULL)
        return -1;
    *array = more;
    return 0;
}

/* Room for another window. 0, or -1: out of memory. */
static int make_room(struct all *all)
{
    if (all->count + WINDOW > all->room) {
        int64_t room = 2 * all->room + 1000 * WINDOW;
        if (grow((void **)&all->text, sizeof *all->text, room) != 0 || grow((void **)&all->places, sizeof *all->places, room) != 0 ||
            grow((void **)&all->squared, sizeof *all->squared, room) != 0)
            return -1;
        all->room = room;
    }
    if (all->windows == all->window_room) {
        int64_t room = 2 * all->window_room + 1000;
        if (grow((void **)&all->window, sizeof *all->window, room) != 0)
            return -1;
        all->window_room = room;
    }
    return 0;
}

static int read_all(struct all *all, struct records *records)
{
    int count;
    do {
        if (make_room(all) != 0) {
            fputs("nn: out of memory for the records\n", stderr);
            return -1;
        }
        count = read_window(records, all->text + all->count, all->places + all->count);
        if (count > 0) {
            all->window[all->windows++] = count;
            all->count += count;
        }
    } while (count > 0);
    return count;
}

static int launch_window(struct all *all, int64_t first, int64_t count)
{
    struct rex_kernel_launch description = rex_kernel_launch_of(REX_KERNEL_ID(nn_distances), 1, THREADS);
    struct place *places = all->places + first;
    double *squared = all->squared + first;
    description.trip_count = (uint64_t)count;
    REX_MAP(arguments, REX_VALUE(count), REX_VALUE(all->query->latitude), REX_VALUE(all->query->longitude), REX_ALLOC(places, count),
            REX_ALLOC(squared, count));
    int result = 0;
    if (!all->run->resident) {
        REX_MAP(there, REX_TO(places, count));
        result = update(&all->run->ways, all->run->device, &there);
    }
    if (result == 0)
        result = launch(&all->run->ways, &description, &arguments);
    if (result == 0 && !all->run->resident) {
        REX_MAP(back, REX_FROM(squared, count));
        result = update(&all->run->ways, all->run->device, &back);
    }
    return result;
}

static int launch_windows(void *context)
{
    struct all *all = context;
    int64_t first = 0;
    int result = 0;
    for (int64_t i = 0; i < all->windows && result == 0; i++) {
        result = launch_window(all, first, all->window[i]);
        first += all->window[i];
    }
    all->run->launches = all->windows;
    return result;
}

/* The region copies all records there and all distances back, or nothing. */
static int measure(struct all *all)
{
    int64_t there = all->run->resident ? REX_TYPE_TO : REX_TYPE_ALLOC, back = all->run->resident ? REX_TYPE_FROM : REX_TYPE_ALLOC;
    int result = -1;
    REX_DATA_MAP(region, REX_SECTION(there, all->places, 0, all->count), REX_SECTION(back, all->squared, 0, all->count));
    double began = seconds_now();
    REX_DATA_REGION(all->run->device, region)
        result = take(&all->run->ways, launch_windows, all);
    all->run->seconds = seconds_now() - began;
    return result;
}

/* Pinned memory is for copies alone; where it cannot be had, they are slower. To pin it takes time, which counts. */
static int measure_pinned(struct all *all)
{
    size_t count = (size_t)all->count;
    double began = seconds_now();
    int places = rex_pin(all->places, count * sizeof *all->places) == 0, squared = rex_pin(all->squared, count * sizeof *all->squared) == 0;
    int result = measure(all);
    if (places)
        rex_unpin(all->places);
    if (squared)
        rex_unpin(all->squared);
    all->run->seconds = seconds_now() - began;
    return result;
}

static int search_all(struct all *all, struct nearest *nearest)
{
    int result = all->count > 0 ? open_ways(&all->run->ways, all->run->device) : 0;
    if (result == 0 && all->count > 0)
        result = all->run->resident ? measure(all) : measure_pinned(all);
    close_ways(&all->run->ways);
    if (result != 0) {
        fprintf(stderr, "nn: %s\n", rex_last_error());
        return -1;
    }
    for (int64_t i = 0; i < all->count; i++)
        offer(nearest, i, all->text[i], all->squared[i]);
    all->run->records = all->count;
    return 0;
}

int search_resident(const char *list, const struct query *query, struct nearest *nearest, struct device_run *run)
{
    struct all all = {.query = query, .run = run};
    struct records records;
    if (open_records(&records, list) != 0)
        return -1;
    int result = read_all(&all, &records);
    close_records(&records);
    if (result == 0)
        result = search_all(&all, nearest);
    free(all.text);
    free(all.places);
    free(all.squared);
    free(all.window);
    return result;
}
