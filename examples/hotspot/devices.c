/*
 * devices.c - hotspot's device run on several devices: each has some of the rows, and the nearest
 * rows of its neighbours, the halo.
 *
 * Look at map_share(), step_rows() and exchange(). Every device maps its part of the host arrays,
 * so a host address stands for one row on all devices that have it. A wait in every step would take
 * longer than computing the rows between two devices. So each device takes several steps alone, and
 * has one halo row of each neighbour for each such step. It computes the halo, too, one row less in
 * each step, with results that are bitwise equal to the neighbour's. Then it copies the halo from
 * the neighbours, over NVLink if there is one. The host puts steps in the queues, far ahead of the
 * devices, and waits only to read the extremes.
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
    MOST_HALO = 8, /* rows of a neighbour, and steps that a device takes alone */
    REPORTS = 20   /* a long run reads the extremes about this often */
};

/* A run. All pointers are host addresses. In a row they stand for the copies of each device. */
struct field {
    const struct chip *chip;
    const struct shares *shares;
    struct device_run *run;
    const double *power;
    double *now;           /* current temperatures */
    double *next;          /* temperatures that the next step writes */
    double (*extremes)[2]; /* of each share: lowest temperature, lowest negated temperature */
    int64_t halo;          /* rows of each neighbour that a share has */
    int64_t good;          /* number of the nearest halo rows that are current */
    bool begins;           /* map_share() begins the mapping; false: ends it */
};

struct rows {
    int64_t first, count;
};

/* Returns the rows of a share and @extra rows on either side, as far as the chip has them. */
static struct rows rows_of(const struct share *share, const struct field *field, int64_t extra)
{
    int64_t first = share->first > extra ? share->first - extra : 0;
    int64_t end = share->first + share->count + extra;
    return (struct rows){first, (end < field->chip->size ? end : field->chip->size) - first};
}

static double *row_of(const struct field *field, double *cells, int64_t row)
{
    return cells + row * field->chip->size;
}

static int map_share(const struct share *share, void *context)
{
    struct field *field = context;
    const struct rows rows = rows_of(share, field, field->halo);
    int64_t cells = rows.count * field->chip->size;
    const double *power = field->power + rows.first * field->chip->size;
    double *extremes = field->extremes[share->number];
    double *now = row_of(field, field->now, rows.first);
    double *next = row_of(field, field->next, rows.first);
    REX_MAP(region, REX_TO(power, cells), REX_TO(now, cells), REX_ALLOC(next, cells),
            REX_ALLOC(extremes, 2));
    return field->begins ? rex_data_enter(share->device, &region)
                         : rex_data_exit(share->device, &region);
}

/* Counts a launch, and returns its configuration: the share's queue, a team for each row. */
static struct rex_launch_config config_of(const struct share *share, const struct field *field,
                                          int64_t rows)
{
    int64_t teams = rows < MAX_TEAMS ? rows : MAX_TEAMS;
    struct rex_launch_config config = rex_launch_config_of(NULL, teams, THREADS);
    config.queue = share->queue;
    field->run->launches++;
    return config;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static int step_rows(const struct share *share, void *context)
{
    struct field *field = context;
    const struct chip *chip = field->chip;
    const struct rows rows = rows_of(share, field, field->good - 1);
    int64_t size = chip->size, top = rows.first, count = rows.count;
    const double *power = field->power + top * size;
    double *now = row_of(field, field->now, top), *next = row_of(field, field->next, top);
    return REX_LAUNCH_WITH(hotspot_rows, config_of(share, field, count), REX_VALUE(size),
                           REX_VALUE(top), REX_VALUE(count), REX_VALUE(chip->step / chip->capacity),
                           REX_VALUE(1.0 / chip->resistance), REX_VALUE(1.0 / chip->to_ambient),
                           REX_VALUE(AMBIENT), REX_ALLOC(power, count * size),
                           REX_ALLOC(now, count * size), REX_ALLOC(next, count * size));
}

/* Records an event after the commands that are in the share's queue. */
static int record(const struct share *share, void *context)
{
    (void)context;
    return rex_event_record(share->event, share->queue);
}

static int wait_for_neighbours(const struct share *share, void *context)
{
    const struct field *field = context;
    int result = 0;
    if (share->number > 0)
        result = rex_queue_wait_event(share->queue, (share - 1)->event);
    if (result == 0 && share->number < field->shares->count - 1)
        result = rex_queue_wait_event(share->queue, (share + 1)->event);
    return result;
}

/* Copies the halo rows from @row on from share @from, which has computed them. */
static int fetch_rows(const struct share *share, const struct share *from,
                      const struct field *field, int64_t row)
{
    const double *cells = row_of(field, field->now, row);
    void *here = rex_mapped_ptr(cells, share->device), *there = rex_mapped_ptr(cells, from->device);
    size_t size = (size_t)(field->halo * field->chip->size) * sizeof *cells;
    return rex_queue_copy_peer(share->queue, here, share->device, there, from->device, size);
}

static int fetch_halo(const struct share *share, void *context)
{
    const struct field *field = context;
    int result = 0;
    if (share->number > 0)
        result = fetch_rows(share, share - 1, field, share->first - field->halo);
    if (result == 0 && share->number < field->shares->count - 1)
        result = fetch_rows(share, share + 1, field, share->first + share->count);
    return result;
}

/* The first events let a share copy only finished rows. The second ones delay overwriting them. */
static int exchange(struct field *field)
{
    share_function *const steps[] = {record, wait_for_neighbours, fetch_halo,
                                     record, wait_for_neighbours};
    int result = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && result == 0; i++)
        result = for_each_share(field->shares, steps[i], field);
    field->good = field->halo;
    return result;
}

static int take_step(struct field *field)
{
    int result = for_each_share(field->shares, step_rows, field);
    double *written = field->next;
    field->next = field->now;
    field->now = written;
    field->good--;
    return result == 0 && field->good == 0 ? exchange(field) : result;
}

/* ---- the extremes ---------------------------------------------------------------------------- */

static int find_share_extremes(const struct share *share, void *context)
{
    struct field *field = context;
    int64_t count = share->count * field->chip->size;
    double *extremes = field->extremes[share->number];
    double *now = row_of(field, field->now, share->first);
    REX_MAP(none, REX_TO(extremes, 2));
    REX_MAP(found, REX_FROM(extremes, 2));
    extremes[0] = extremes[1] = INFINITY;
    int result = rex_queue_update(share->queue, &none);
    if (result == 0)
        result = REX_LAUNCH_WITH(hotspot_rows_extremes, config_of(share, field, share->count),
                                 REX_VALUE(count), REX_ALLOC(now, count), REX_ALLOC(extremes, 2));
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

/* ---- the run --------------------------------------------------------------------------------- */

static int limit_halo(const struct share *share, void *context)
{
    struct field *field = context;
    field->halo = share->count < field->halo ? share->count : field->halo;
    return 0;
}

static int run_steps(struct field *field)
{
    int result = 0, total = field->run->iterations;
    int between_reports = total / REPORTS > 0 ? total / REPORTS : 1;
    double began = seconds_now();
    for (int step = 1; step <= total && result == 0; step++) {
        result = take_step(field);
        if (result == 0 && (step == total || step % between_reports == 0))
            result = find_extremes(field);
    }
    field->run->kernel_time = seconds_now() - began;
    return result;
}

/* Copies the share's own rows from its device. */
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
    for_each_share(field->shares, limit_halo, field); /* a halo is rows of one neighbour only */
    field->good = field->halo;
    field->begins = true;
    int result = for_each_share(field->shares, map_share, field);
    if (result == 0)
        result = run_steps(field);
    if (result == 0)
        result = for_each_share(field->shares, fetch_result, field);
    if (result == 0)
        result = finish_shares(field->shares);
    field->begins = false;
    if (result == 0) /* after an error the program ends, and its mappings with it */
        result = for_each_share(field->shares, map_share, field);
    field->run->region_time = seconds_now() - began;
    return result;
}

int simulate_on_devices(const struct chip *chip, const double *power, double *temp,
                        struct device_run *run, const struct shares *shares)
{
    size_t cells = (size_t)(chip->size * chip->size);
    struct field field = {
        .chip = chip, .shares = shares, .run = run, .power = power, .now = temp, .halo = MOST_HALO};
    double *scratch = malloc(cells * sizeof *scratch);
    field.next = scratch;
    field.extremes = calloc((size_t)shares->count, sizeof *field.extremes);
    run->launches = 0;
    int result = scratch != NULL && field.extremes != NULL ? run_field(&field) : -1;
    if (result != 0)
        fprintf(stderr, "hotspot: launch %lld failed: %s\n", (long long)run->launches,
                rex_last_error());
    else if (field.now != temp)
        memcpy(temp, field.now, cells * sizeof *temp);
    free(scratch);
    free(field.extremes);
    return result;
}
