/*
 * offload.c - srad's device run: two launches and one update in each step, all in one data region.
 *
 * In every step the host reads the sample, a rectangle of the field, to measure the speckle.
 * take_sample() copies only this rectangle, with maps that are built once, before the region.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "srad.h"

REX_KERNEL(srad_coefficients);
REX_KERNEL(srad_diffuse);

enum { THREADS = 128, MOST_TEAMS = 65535 };

/* A run. All pointers are host addresses. In a row they stand for the device's copies. */
struct region {
    const struct diffusion *diffusion;
    struct device_run *run;
    float *now;             /* current field */
    float *next;            /* field that the next step writes */
    float *coefficient;
    struct rex_map *sample; /* map of the sample of `now` */
    struct rex_map *other;  /* map of the sample of `next` */
};

/* ---- the sample ------------------------------------------------------------------------------ */

struct rectangle {
    float *field;
    struct rex_dimension dimensions[2];
};

static int push_sample(struct rex_map_builder *builder, void *context)
{
    struct rectangle *rectangle = context;
    return rex_map_add_strided(builder, rectangle->field, sizeof(float), rectangle->dimensions, 2,
                               REX_MAP_FROM);
}

static int build_sample_map(struct rex_map *map, const struct diffusion *diffusion, float *field)
{
    struct rectangle rectangle = {field,
                                  {{diffusion->rows, 0, diffusion->sample_rows, 1},
                                   {diffusion->columns, 0, diffusion->sample_columns, 1}}};
    return rex_map_build(map, NULL, push_sample, &rectangle, NULL);
}

/* Copies the sample to the host. *@speckle receives the square of its coefficient of variation. */
static int take_sample(struct region *region, float *speckle)
{
    const struct diffusion *diffusion = region->diffusion;
    double sum = 0.0, squares = 0.0,
           count = (double)(diffusion->sample_rows * diffusion->sample_columns);
    int result = rex_data_update(region->run->device, region->sample);
    for (int64_t row = 0; row < diffusion->sample_rows; row++)
        for (int64_t column = 0; column < diffusion->sample_columns; column++) {
            double value = (double)region->now[row * diffusion->columns + column];
            sum += value;
            squares += value * value;
        }
    double mean = sum / count;
    double ratio = (squares / count - mean * mean) / (mean * mean);
    *speckle = (float)(ratio < LEAST_SPECKLE ? LEAST_SPECKLE : ratio);
    return result;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Counts a launch, and returns its configuration: a team for each row. */
static struct rex_launch_config config_of(struct region *region)
{
    int64_t rows = region->diffusion->rows;
    struct rex_launch_config config =
        rex_launch_config_of(NULL, rows < MOST_TEAMS ? rows : MOST_TEAMS, THREADS);
    config.device = region->run->device;
    region->run->launches++;
    return config;
}

static int find_coefficients(struct region *region, float speckle)
{
    int64_t rows = region->diffusion->rows, columns = region->diffusion->columns,
            pixels = rows * columns;
    return REX_LAUNCH_WITH(srad_coefficients, config_of(region), REX_VALUE(rows),
                           REX_VALUE(columns), REX_VALUE(speckle), REX_ALLOC(region->now, pixels),
                           REX_ALLOC(region->coefficient, pixels));
}

static int diffuse(struct region *region)
{
    int64_t rows = region->diffusion->rows, columns = region->diffusion->columns,
            pixels = rows * columns;
    return REX_LAUNCH_WITH(srad_diffuse, config_of(region), REX_VALUE(rows), REX_VALUE(columns),
                           REX_VALUE(region->diffusion->rate), REX_ALLOC(region->now, pixels),
                           REX_ALLOC(region->coefficient, pixels), REX_ALLOC(region->next, pixels));
}

static void swap_fields(struct region *region)
{
    float *field = region->now;
    struct rex_map *map = region->sample;
    region->now = region->next;
    region->sample = region->other;
    region->next = field;
    region->other = map;
}

static int take_step(struct region *region)
{
    float speckle = 0.0f;
    int result = take_sample(region, &speckle);
    if (result == 0)
        result = find_coefficients(region, speckle);
    if (result == 0)
        result = diffuse(region);
    swap_fields(region);
    return result;
}

static int run_region(struct region *region)
{
    int64_t pixels = region->diffusion->rows * region->diffusion->columns;
    int result;
    double began = seconds_now();
    REX_DATA_REGION(&result, region->run->device, REX_TO(region->now, pixels),
                    REX_ALLOC(region->next, pixels), REX_ALLOC(region->coefficient, pixels)) {
        for (int i = 0; i < region->diffusion->iterations && result == 0; i++)
            result = take_step(region);
        /* An update copies the field that was written last. The region's rows copy nothing back. */
        REX_MAP(last, REX_FROM(region->now, pixels));
        if (result == 0)
            result = rex_data_update(region->run->device, &last);
    }
    region->run->seconds = seconds_now() - began;
    return result;
}

static int run_with_maps(struct region *region)
{
    struct rex_map first = {0}, second = {0};
    int result = build_sample_map(&first, region->diffusion, region->now);
    if (result == 0)
        result = build_sample_map(&second, region->diffusion, region->next);
    region->sample = &first;
    region->other = &second;
    if (result == 0)
        result = run_region(region);
    rex_map_free(&second);
    rex_map_free(&first);
    return result;
}

int diffuse_on_device(const struct diffusion *diffusion, float *values, struct device_run *run)
{
    size_t pixels = (size_t)(diffusion->rows * diffusion->columns);
    float *scratch = malloc(2 * pixels * sizeof *scratch);
    if (scratch == NULL) {
        fputs("srad: out of memory\n", stderr);
        return -1;
    }
    struct region region = {.diffusion = diffusion, .run = run, .now = values, .next = scratch,
                            .coefficient = scratch + pixels};
    run->launches = 0;
    int result = run_with_maps(&region);
    if (result != 0)
        fprintf(stderr, "srad: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    else if (region.now != values)
        memcpy(values, region.now, pixels * sizeof *values);
    free(scratch);
    return result;
}
