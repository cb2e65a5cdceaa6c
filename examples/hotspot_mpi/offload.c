/*
 * offload.c - the device run of one rank in one data region. In each step
 *
 *     a kernel computes the inner part, which needs no data of the neighbours;
 *     meanwhile a second queue and MPI exchange the edges with the neighbours;
 *     then a kernel computes the edges.
 *
 * The host waits for the exchange while the device computes. By an event the exchange waits until
 * the device has computed the edges of the last step.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halo.h"
#include "hotspot_mpi.h"
#include "sides.h"

REX_KERNEL(hotspot_part);
REX_KERNEL(hotspot_part_extremes);

enum {
    THREADS = 128,
    MAX_TEAMS = 65535,
    REPORTS = 10,    /* a long run reads the extremes about this often */
    EXCHANGES = 20   /* number of exchanges to time before the run */
};

/* A run. Pointers to fields and sides are host addresses. In a row they stand for device copies. */
struct region {
    const struct part *part;
    struct part_run *run;
    double *now, *next;    /* current temperatures, and those that the next step writes */
    double *spare;         /* of the two, the field that make_fields() has allocated */
    double *from,
        *to; /* columns of the left and the right neighbour, and this part's columns for them */
    double extremes[2];    /* lowest temperature, lowest negated temperature */
    struct rex_queue *steps, *copies;
    struct rex_event *edges;                     /* recorded after the edges are computed */
    struct rex_event *inner_ended, *edges_begin; /* the device waits for the exchange in between */
    int samples;                                 /* number of waits that were measured */
    struct halo halo;
};

/* ---- launches -------------------------------------------------------------------------------- */

static size_t field_cells(const struct part *part)
{
    return (size_t)((part->cells.rows + 2) * part->cells.columns);
}

/* Counts a launch, and returns its configuration: the queue of the steps, a team for each row. */
static struct rex_launch_config config_of(const struct region *region)
{
    int64_t rows = region->part->cells.rows;
    struct rex_launch_config config =
        rex_launch_config_of(NULL, rows < MAX_TEAMS ? rows : MAX_TEAMS, THREADS);
    config.queue = region->steps;
    region->run->launches++;
    return config;
}

static int64_t sides_of(const struct part *part)
{
    static const int64_t bits[SIDES] = {NORTH, SOUTH, WEST, EAST};
    int64_t sides = 0;
    for (int i = 0; i < SIDES; i++)
        sides |= part->neighbours[i] != MPI_PROC_NULL ? bits[i] : 0;
    return sides;
}

static int launch_part(struct region *region, int64_t is_inner)
{
    const struct part *part = region->part;
    const struct chip *chip = &part->chip;
    int64_t rows = part->cells.rows, columns = part->cells.columns, sides = sides_of(part);
    size_t cells = field_cells(part);
    return REX_LAUNCH_WITH(hotspot_part, config_of(region), REX_VALUE(rows), REX_VALUE(columns),
                           REX_VALUE(sides), REX_VALUE(is_inner),
                           REX_VALUE(chip->step / chip->capacity),
                           REX_VALUE(1.0 / chip->resistance), REX_VALUE(1.0 / chip->to_ambient),
                           REX_VALUE(AMBIENT), REX_ALLOC(part->power, rows * columns),
                           REX_ALLOC(region->now, cells), REX_ALLOC(region->next, cells),
                           REX_ALLOC(region->from, 2 * rows), REX_ALLOC(region->to, 2 * rows));
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static int exchange(struct region *region)
{
    const struct part *part = region->part;
    int64_t rows = part->cells.rows, columns = part->cells.columns;
    size_t row = (size_t)columns * sizeof(double), column = (size_t)rows * sizeof(double);
    double *first = region->now + columns, *last = region->now + rows * columns;
    double *const out[SIDES] = {first, last, region->to, region->to + rows};
    double *const in[SIDES] = {region->now, last + columns, region->from, region->from + rows};
    struct side sides[SIDES];
    for (int i = 0; i < SIDES; i++)
        sides[i] = (struct side){part->neighbours[i], i, (unsigned char *)out[i],
                                 (unsigned char *)in[i], i < 2 ? row : column};
    return halo_exchange(&region->halo, sides, SIDES);
}

/* Measures the time of an exchange while no kernel runs. */
static int time_exchange(struct region *region)
{
    MPI_Barrier(region->part->grid);
    double began = seconds_now();
    for (int i = 0; i < EXCHANGES; i++)
        if (exchange(region) != 0)
            return -1;
    region->run->halo = (seconds_now() - began) / (double)EXCHANGES;
    return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int take_step(struct region *region)
{
    if (rex_queue_wait_event(region->copies, region->edges) != 0 || launch_part(region, 1) != 0 ||
        rex_event_record(region->inner_ended, region->steps) != 0 || exchange(region) != 0 ||
        rex_event_record(region->edges_begin, region->steps) != 0 || launch_part(region, 0) != 0 ||
        rex_event_record(region->edges, region->steps) != 0)
        return -1;
    double *written = region->next;
    region->next = region->now;
    region->now = written;
    return 0;
}

/* Finds the extremes of the whole chip: a kernel finds those of a rank, and MPI combines them. */
static int find_extremes(struct region *region)
{
    int64_t rows = region->part->cells.rows, columns = region->part->cells.columns;
    double gap = 0.0;
    REX_MAP(none, REX_TO(region->extremes, 2));
    REX_MAP(found, REX_FROM(region->extremes, 2));
    region->extremes[0] = region->extremes[1] = INFINITY;
    if (rex_queue_update(region->steps, &none) != 0 ||
        REX_LAUNCH_WITH(hotspot_part_extremes, config_of(region), REX_VALUE(rows),
                        REX_VALUE(columns), REX_ALLOC(region->now, field_cells(region->part)),
                        REX_ALLOC(region->extremes, 2)) != 0 ||
        rex_queue_update(region->steps, &found) != 0 || rex_queue_sync(region->steps) != 0 ||
        rex_event_elapsed(&gap, region->inner_ended, region->edges_begin) != 0)
        return -1;
    MPI_Allreduce(MPI_IN_PLACE, region->extremes, 2, MPI_DOUBLE, MPI_MIN, region->part->grid);
    region->run->waited += gap;
    region->samples++;
    region->run->coldest = region->extremes[0];
    region->run->hottest = -region->extremes[1];
    return 0;
}

static int save(struct region *region, int64_t step)
{
    REX_MAP(fetched, REX_FROM(region->now, field_cells(region->part)));
    if (rex_queue_update(region->steps, &fetched) != 0 || rex_queue_sync(region->steps) != 0)
        return -1;
    return state_write(region->part, region->run->save, part_cells(region->part, region->now),
                       step);
}

static int run_steps(struct region *region)
{
    const struct part_run *run = region->run;
    int64_t between =
        (run->steps - run->first) / REPORTS > 0 ? (run->steps - run->first) / REPORTS : 1;
    for (int64_t step = run->first + 1; step <= run->steps; step++) {
        bool is_last = step == run->steps;
        if (take_step(region) != 0)
            return -1;
        if (is_last || (step - run->first) % between == 0) {
            if (find_extremes(region) != 0)
                return -1;
            if (region->part->rank == 0)
                print_line("step", "%lld of %lld, %.3f to %.3f degrees", (long long)step,
                           (long long)run->steps, run->coldest, run->hottest);
            fflush(stdout);
        }
        if (run->save != NULL && (is_last || (run->every > 0 && step % run->every == 0)) &&
            save(region, step) != 0)
            return -1;
    }
    return 0;
}

/* ---- the region ------------------------------------------------------------------------------ */

static int run_region(struct region *region)
{
    const struct part *part = region->part;
    int64_t rows = part->cells.rows, cells = rows * part->cells.columns;
    size_t field = field_cells(part);
    REX_MAP(map, REX_TO(part->power, cells), REX_TO(region->now, field),
            REX_ALLOC(region->next, field), REX_TO(region->to, 2 * rows),
            REX_ALLOC(region->from, 2 * rows), REX_ALLOC(region->extremes, 2));
    if (rex_data_enter(region->run->device, &map) != 0)
        return -1;
    int result = rex_event_record(region->edges, region->steps) != 0 ? -1 : time_exchange(region);
    double began = seconds_now();
    if (result == 0)
        result = run_steps(region);
    region->run->seconds = seconds_now() - began;
    if (result == 0) {
        REX_MAP(last, REX_FROM(region->now, field));
        result = rex_data_update(region->run->device, &last);
    }
    if (result != 0) /* only the end of the program stops the exchanges with other ranks */
        return -1;
    return rex_data_exit(region->run->device, &map);
}

static int make_queues(struct region *region)
{
    if (rex_queue_create(&region->steps, region->run->device, "steps", 0) != 0 ||
        rex_queue_create(&region->copies, region->run->device, "copies", 0) != 0 ||
        rex_event_create(&region->edges) != 0 || rex_event_create(&region->inner_ended) != 0 ||
        rex_event_create(&region->edges_begin) != 0)
        return -1;
    region->halo = (struct halo){.comm = region->part->grid, .queue = region->copies};
    if (!region->run->through_host && takes_device_pointers(region->copies))
        return 0;
    region->halo.pinned = rex_host_alloc(PINNED_BYTES);
    return region->halo.pinned != NULL ? 0 : -1;
}

static void free_queues(struct region *region)
{
    rex_host_free(region->halo.pinned);
    rex_event_destroy(region->edges);
    rex_event_destroy(region->inner_ended);
    rex_event_destroy(region->edges_begin);
    rex_queue_destroy(region->copies);
    rex_queue_destroy(region->steps);
}

static int make_fields(struct region *region)
{
    const struct rectangle *own = &region->part->cells;
    region->spare = rex_host_alloc(field_cells(region->part) * sizeof(double));
    region->from = rex_host_alloc((size_t)(2 * own->rows) * sizeof(double));
    region->to = rex_host_alloc((size_t)(2 * own->rows) * sizeof(double));
    if (region->spare == NULL || region->from == NULL || region->to == NULL)
        return -1;
    const double *cells = part_cells(region->part, region->now);
    for (int64_t row = 0; row < own->rows; row++) {
        region->to[row] = cells[row * own->columns];
        region->to[own->rows + row] = cells[(row + 1) * own->columns - 1];
    }
    return 0;
}

int simulate_part(struct part *part, struct part_run *run)
{
    struct region region = {.part = part, .run = run, .now = part->temp};
    int result = make_fields(&region);
    region.next = region.spare;
    if (result == 0)
        result = make_queues(&region);
    if (result == 0)
        result = run_region(&region);
    if (result != 0)
        return -1; /* the caller ends the program on all ranks */
    free_queues(&region);
    if (region.now != part->temp)
        memcpy(part->temp, region.now, field_cells(part) * sizeof *part->temp);
    run->waited /= region.samples > 0 ? region.samples : 1;
    rex_host_free(region.spare);
    rex_host_free(region.from);
    rex_host_free(region.to);
    return 0;
}
