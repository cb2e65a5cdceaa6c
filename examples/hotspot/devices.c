/*
 * devices.c - hotspot's device run on several devices: each has some of the rows, and of its neighbours the row that is next to them.
 *
 * What to look at: map_share() and take_halo(). Every device maps its part of the same host arrays, so that a host address stands for
 * one row on all devices that have it; and each device, when its neighbour has done a step, fetches that neighbour's row by itself,
 * over NVLink where there is one. The host puts steps in the queues, far ahead of the devices, and waits where it wants the extremes.
 *
 * Nobody overwrites a row that is still being fetched: a neighbour writes there again two steps later, and has waited before for the
 * step that its fetching device took in between, which lies behind the fetch in that device's queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex/interop.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot.h"

REX_KERNEL(hotspot_rows);
REX_KERNEL(hotspot_rows_extremes);

enum {
    THREADS = 128,
    MAX_TEAMS = 65535,
    REPORTS = 20 /* how often in a run the extremes are looked at */
};

/* A run that is under way. All pointers are host addresses, which stand for the copies of each device. */
struct field {
    const struct chip *chip;
    const struct shares *shares;
    struct device_run *run;
    double *power;
    double *now;           /* the temperatures as they are */
    double *next;          /* where the next step writes them */
    double (*extremes)[2]; /* of each share: the lowest temperature, and the lowest negative one */
    bool begins;           /* map_share() maps, and does not end it */
};

static double *row_of(const struct field *field, double *cells, int64_t row)
{
    return cells + row * field->chip->size;
}

/* The share's rows, and the rows on both sides of them that the chip has. */
static int map_share(const struct share *share, void *context)
{
    struct field *field = context;
    int64_t size = field->chip->size, end = share->first + share->count;
    int64_t top = share->first > 0 ? share->first - 1 : 0, bottom = end < size ? end + 1 : size;
    double *power = row_of(field, field->power, share->first), *extremes = field->extremes[share->number];
    double *now = row_of(field, field->now, top), *next = row_of(field, field->next, top);
    REX_DATA_MAP(region, REX_TO(power, share->count * size), REX_TO(now, (bottom - top) * size), REX_ALLOC(next, (bottom - top) * size),
                 REX_ALLOC(extremes, 2));
    return field->begins ? rex_data_begin(share->device, &region) : rex_data_end(share->device, &region);
}

static struct rex_kernel_launch launch_of(const struct share *share, const struct field *field, const void *kernel)
{
    field->run->launches++;
    return rex_kernel_launch_of(kernel, (uint32_t)(share->count < MAX_TEAMS ? share->count : MAX_TEAMS), THREADS);
}

/* ---- a step ------------------------------------------------------------------------------------------------------------------------ */

static int step_rows(const struct share *share, void *context)
{
    struct field *field = context;
    const struct chip *chip = field->chip;
    int64_t size = chip->size, top = share->first, rows = share->count;
    double gain = chip->step / chip->capacity, lateral = 1.0 / chip->resistance, vertical = 1.0 / chip->to_ambient, ambient = AMBIENT;
    double *power = row_of(field, field->power, top), *now = row_of(field, field->now, top), *next = row_of(field, field->next, top);
    struct rex_kernel_launch launch = launch_of(share, field, REX_KERNEL_ID(hotspot_rows));
    REX_MAP(args, REX_VALUE(size), REX_VALUE(top), REX_VALUE(rows), REX_VALUE(gain), REX_VALUE(lateral), REX_VALUE(vertical),
            REX_VALUE(ambient), REX_ALLOC(power, rows * size), REX_ALLOC(now, rows * size), REX_ALLOC(next, rows * size));
    int result = rex_queue_launch(share->queue, &launch, &args);
    return result == 0 ? rex_event_record(share->event, share->queue) : result;
}

/* Row @row as @from has written it, once it has. */
static int fetch_row(const struct share *share, const struct share *from, const struct field *field, int64_t row)
{
    const double *cells = row_of(field, field->next, row);
    int result = rex_queue_wait(share->queue, from->event);
    return result != 0 ? result
                       : rex_queue_copy_peer(share->queue, rex_device_address(cells, share->device), share->device,
                                             rex_device_address(cells, from->device), from->device,
                                             (size_t)field->chip->size * sizeof *cells);
}

static int take_halo(const struct share *share, void *context)
{
    const struct field *field = context;
    bool is_last = share->number == field->shares->count - 1;
    int result = share->number > 0 ? fetch_row(share, share - 1, field, share->first - 1) : 0;
    return result == 0 && !is_last ? fetch_row(share, share + 1, field, share->first + share->count) : result;
}

static int take_step(struct field *field)
{
    int result = for_each_share(field->shares, step_rows, field);
    if (result == 0)
        result = for_each_share(field->shares, take_halo, field);
    double *written = field->next;
    field->next = field->now;
    field->now = written;
    return result;
}

/* ---- the extremes ------------------------------------------------------------------------------------------------------------------ */

static int find_share_extremes(const struct share *share, void *context)
{
    struct field *field = context;
    int64_t count = share->count * field->chip->size;
    double *extremes = field->extremes[share->number], *now = row_of(field, field->now, share->first);
    struct rex_kernel_launch launch = launch_of(share, field, REX_KERNEL_ID(hotspot_rows_extremes));
    REX_MAP(none, REX_TO(extremes, 2));
    REX_MAP(args, REX_VALUE(count), REX_ALLOC(now, count), REX_ALLOC(extremes, 2));
    REX_MAP(found, REX_FROM(extremes, 2));
    extremes[0] = extremes[1] = INFINITY;
    int result = rex_queue_update(share->queue, &none);
    if (result == 0)
        result = rex_queue_launch(share->queue, &launch, &args);
    return result == 0 ? rex_queue_update(share->queue, &found) : result;
}

static int find_extremes(struct field *field)
{
    double lowest = INFINITY, lowest_negative = INFINITY;
    int result = for_each_share(field->shares, find_share_extremes, field);
    if (result == 0)
        result = finish_shares(field->shares);
    for (int i = 0; i < field->shares->count; i++) {
        lowest = fmin(lowest, field->extremes[i][0]);
        lowest_negative = fmin(lowest_negative, field->extremes[i][1]);
    }
    field->run->coldest = lowest;
    field->run->hottest = -lowest_negative;
    return result;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------------- */

static int run_steps(struct field *field)
{
    int total = field->run->iterations, between_reports = total / REPORTS > 0 ? total / REPORTS : 1, result = 0;
    double began = seconds_now();
    for (int step = 1; step <= total && result == 0; step++) {
        result = take_step(field);
        if (result == 0 && (step == total || step % between_reports == 0))
            result = find_extremes(field);
    }
    field->run->kernel_time = seconds_now() - began;
    return result;
}

/* The share's own rows. */
static int fetch_result(const struct share *share, void *context)
{
    const struct field *field = context;
    const double *now = row_of(field, field->now, share->first);
    REX_MAP(last, REX_FROM(now, share->count * field->chip->size));
    return rex_queue_update(share->queue, &last);
}

static int run_field(struct field *field)
{
    double began = seconds_now();
    field->begins = true;
    int result = for_each_share(field->shares, map_share, field);
    if (result == 0)
        result = run_steps(field);
    if (result == 0)
        result = for_each_share(field->shares, fetch_result, field);
    if (result == 0)
        result = finish_shares(field->shares);
    field->begins = false;
    if (result == 0) /* else the program ends, and what is mapped with it */
        result = for_each_share(field->shares, map_share, field);
    field->run->region_time = seconds_now() - began;
    return result;
}

int simulate_on_devices(const struct chip *chip, const double *power, double *temp, struct device_run *run, const struct shares *shares)
{
    size_t cells = (size_t)(chip->size * chip->size);
    /* Maps have no const; power is mapped to the devices only, so nothing writes to it. */
    struct field field = {.chip = chip, .shares = shares, .run = run, .power = (double *)(uintptr_t)power, .now = temp};
    double *scratch = malloc(cells * sizeof *scratch);
    field.next = scratch;
    field.extremes = calloc((size_t)shares->count, sizeof *field.extremes);
    run->launches = 0;
    int result = scratch != NULL && field.extremes != NULL ? run_field(&field) : -1;
    if (result != 0)
        fprintf(stderr, "hotspot: launch %lld failed: %s\n", (long long)run->launches, rex_last_error());
    else if (field.now != temp)
        memcpy(temp, field.now, cells * sizeof *temp);
    free(scratch);
    free(field.extremes);
    return result;
}
