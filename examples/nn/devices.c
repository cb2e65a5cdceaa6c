/*
 * devices.c - nn's device run with --devices: each device has a share of the records.
 *
 * Look at search_shares(). One thread puts the copies and launches of all devices into their
 * queues. It waits for all devices together, so each device is as busy as a single device. In this
 * file a launch takes all of a device's records, and not a window of ten.
 *
 * From pinned memory the copies to all devices run in parallel, hence rex_host_register(). If it
 * fails, the copies are slower.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "nn.h"

REX_KERNEL_DECLARE(nn_distances);

/* A search. */
struct search {
    struct all all;
    const struct query *query;
    struct device_run *run;
    bool begins; /* map_share() begins the mapping; false: ends it */
};

static int map_share(const struct share *share, void *context)
{
    struct search *search = context;
    struct place *places = search->all.places + share->first;
    double *squared = search->all.squared + share->first;
    REX_MAP(region, REX_ALLOC(places, share->count), REX_ALLOC(squared, share->count));
    return search->begins ? rex_data_enter(share->device, &region)
                          : rex_data_exit(share->device, &region);
}

static int copy_there(const struct share *share, void *context)
{
    struct search *search = context;
    struct place *places = search->all.places + share->first;
    REX_MAP(there, REX_TO(places, share->count));
    return rex_queue_update(share->queue, &there);
}

static int copy_back(const struct share *share, void *context)
{
    struct search *search = context;
    double *squared = search->all.squared + share->first;
    REX_MAP(back, REX_FROM(squared, share->count));
    return rex_queue_update(share->queue, &back);
}

static int launch_share(const struct share *share, void *context)
{
    struct search *search = context;
    int64_t count = share->count;
    struct place *places = search->all.places + share->first;
    double *squared = search->all.squared + share->first;
    struct rex_launch_config config = rex_launch_config_for(NULL, count);
    config.queue = share->queue;
    search->run->launches++;
    return REX_LAUNCH_WITH(nn_distances, config, REX_VALUE(count),
                           REX_VALUE(search->query->latitude), REX_VALUE(search->query->longitude),
                           REX_ALLOC(places, count), REX_ALLOC(squared, count));
}

/* Computes the distances in each of the rounds of --rounds. */
static int compute(struct search *search, const struct shares *shares)
{
    int result = finish_shares(shares);
    double began = seconds_now();
    for (int64_t round = 0; round < search->run->rounds && result == 0; round++)
        result = for_each_share(shares, launch_share, search);
    if (result == 0)
        result = finish_shares(shares);
    search->run->computing = seconds_now() - began;
    return result;
}

static int search_mapped(struct search *search, const struct shares *shares)
{
    int result = for_each_share(shares, copy_there, search);
    if (result == 0)
        result = compute(search, shares);
    if (result == 0)
        result = for_each_share(shares, copy_back, search);
    return result == 0 ? finish_shares(shares) : result;
}

static int search_shares(struct search *search, const struct shares *shares)
{
    struct all *all = &search->all;
    size_t count = (size_t)all->count;
    bool pins_places = rex_host_register(all->places, count * sizeof *all->places) == 0;
    bool pins_squared = rex_host_register(all->squared, count * sizeof *all->squared) == 0;
    double began = seconds_now();
    search->begins = true;
    int result = for_each_share(shares, map_share, search);
    if (result == 0)
        result = search_mapped(search, shares);
    search->begins = false;
    if (result == 0) /* after an error the program ends, and its mappings with it */
        result = for_each_share(shares, map_share, search);
    search->run->seconds = seconds_now() - began;
    if (pins_places)
        rex_host_unregister(all->places);
    if (pins_squared)
        rex_host_unregister(all->squared);
    if (result != 0)
        fprintf(stderr, "nn: %s\n", rex_last_error());
    return result;
}

int search_on_devices(const char *list, const struct query *query, struct nearest *nearest,
                      struct device_run *run)
{
    struct search search = {.query = query, .run = run};
    struct shares shares = {.count = 0};
    int result = read_all(&search.all, list);
    if (result == 0 && search.all.count > 0) {
        result = open_shares(&shares, run->settings, search.all.count);
        if (result == 0)
            result = search_shares(&search, &shares);
        if (result == 0) {
            print_shares(&shares, "records");
            print_line("computation", "%.6f s without copies, %lld rounds", run->computing,
                       (long long)run->rounds);
            print_digest(search.all.squared, (size_t)search.all.count * sizeof *search.all.squared);
        }
        close_shares(&shares);
    }
    if (result == 0)
        offer_all(&search.all, nearest);
    run->records = search.all.count;
    free_all(&search.all);
    return result;
}
