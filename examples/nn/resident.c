/*
 * resident.c - nn's device run with --queue and --graph. It reads all records first and maps them
 * once. Each launch still has a window of at most ten records, but the host does not wait for it.
 *
 * Look at launch_windows(). A launch in this file copies nothing. So it takes the host about three
 * microseconds, and the host waits once for all launches. In a graph a launch takes less than half
 * of that time, if the graph computes the distances again. The program needs memory for all
 * records.
 *
 * With --resident 0 the queue copies a window's data before and after its launch. Two copies cost
 * more than the launch, but the host does not wait for them. Such copies need pinned memory, hence
 * rex_host_register().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "nn.h"

REX_KERNEL_DECLARE(nn_distances);

enum {
    THREADS = 32 /* one warp is enough for ten records */
};

/* A search. */
struct search {
    struct all all;
    const struct query *query;
    struct device_run *run;
};

static int launch_window(struct search *search, int64_t first, int64_t count)
{
    struct rex_launch_config config = rex_launch_config_of(NULL, 1, THREADS);
    struct place *places = search->all.places + first;
    double *squared = search->all.squared + first;
    config.queue = search->run->ways.queue;
    int result = 0;
    if (!search->run->resident) {
        REX_MAP(there, REX_TO(places, count));
        result = update(&search->run->ways, search->run->device, &there);
    }
    if (result == 0)
        result = REX_LAUNCH_WITH(
            nn_distances, config, REX_VALUE(count), REX_VALUE(search->query->latitude),
            REX_VALUE(search->query->longitude), REX_PRESENT(REX_ALLOC(places, count)),
            REX_PRESENT(REX_ALLOC(squared, count)));
    if (result == 0 && !search->run->resident) {
        REX_MAP(back, REX_FROM(squared, count));
        result = update(&search->run->ways, search->run->device, &back);
    }
    return result;
}

static int launch_windows(void *context)
{
    struct search *search = context;
    int64_t first = 0;
    int result = 0;
    for (int64_t i = 0; i < search->all.windows && result == 0; i++) {
        result = launch_window(search, first, search->all.window[i]);
        first += search->all.window[i];
    }
    search->run->launches = search->all.windows;
    return result;
}

/* Runs the search in a region, which copies records and distances if --resident is 1. */
static int measure(struct search *search)
{
    struct all *all = &search->all;
    int64_t there = search->run->resident ? REX_MAP_TO : REX_MAP_ALLOC,
            back = search->run->resident ? REX_MAP_FROM : REX_MAP_ALLOC;
    int result;
    double began = seconds_now();
    REX_DATA_REGION(&result, search->run->device, REX_SECTION(there, all->places, 0, all->count),
                    REX_SECTION(back, all->squared, 0, all->count)) {
        result = take(&search->run->ways, launch_windows, search);
    }
    search->run->seconds = seconds_now() - began;
    return result;
}

/* Runs the search on pinned memory, which makes copies faster. The time includes the pinning. */
static int measure_pinned(struct search *search)
{
    struct all *all = &search->all;
    size_t count = (size_t)all->count;
    double began = seconds_now();
    int places = rex_host_register(all->places, count * sizeof *all->places) == 0,
        squared = rex_host_register(all->squared, count * sizeof *all->squared) == 0;
    int result = measure(search);
    if (places)
        rex_host_unregister(all->places);
    if (squared)
        rex_host_unregister(all->squared);
    search->run->seconds = seconds_now() - began;
    return result;
}

static int search_all(struct search *search)
{
    struct device_run *run = search->run;
    int result = open_ways(&run->ways, run->device);
    if (result == 0)
        result = run->resident ? measure(search) : measure_pinned(search);
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "nn: %s\n", rex_last_error());
    return result;
}

int search_resident(const char *list, const struct query *query, struct nearest *nearest,
                    struct device_run *run)
{
    struct search search = {.query = query, .run = run};
    int result = read_all(&search.all, list);
    if (result == 0 && search.all.count > 0)
        result = search_all(&search);
    if (result == 0)
        offer_all(&search.all, nearest);
    run->records = search.all.count;
    free_all(&search.all);
    return result;
}
