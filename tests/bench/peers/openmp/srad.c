/*
 * srad.c - srad's device run in the words of OpenMP; see examples/srad/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "../../../../examples/common/common.h"
#include "../../../../examples/srad/srad.h"
#include "directives.h"

static float speckle_of(const struct diffusion *diffusion, const float *now)
{
    int64_t count = diffusion->sample_rows * diffusion->columns;
    double sum = 0.0, squares = 0.0, sampled = (double)(diffusion->sample_rows * diffusion->sample_columns);
    (void)count;
    TARGET(update from(now[0:count]))
    for (int64_t row = 0; row < diffusion->sample_rows; row++)
        for (int64_t column = 0; column < diffusion->sample_columns; column++) {
            double value = (double)now[row * diffusion->columns + column];
            sum += value;
            squares += value * value;
        }
    double mean = sum / sampled, ratio = (squares / sampled - mean * mean) / (mean * mean);
    return (float)(ratio < LEAST_SPECKLE ? LEAST_SPECKLE : ratio);
}

static void find_coefficients(int64_t rows, int64_t columns, float speckle, const float *image, float *coefficient)
{
    int64_t pixels = rows * columns;
    float scale = 1.0f / (speckle * (1.0f + speckle));
    (void)pixels;
    LOOP(thread_limit(128) map(to : image[0:pixels]) map(tofrom : coefficient[0:pixels]))
    for (int64_t row = 0; row < rows; row++) {
        const float *here = image + row * columns, *north = row > 0 ? here - columns : here;
        const float *south = row < rows - 1 ? here + columns : here;
        for (int64_t column = 0; column < columns; column++) {
            float own = here[column], inverse = 1.0f / own;
            float to_north = north[column] - own, to_south = south[column] - own;
            float to_west = here[column > 0 ? column - 1 : column] - own;
            float to_east = here[column < columns - 1 ? column + 1 : column] - own;
            float gradient = (to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east) * inverse * inverse;
            float laplacian = (to_north + to_south + to_west + to_east) * inverse;
            float slope = 1.0f + 0.25f * laplacian;
            float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (slope * slope);
            float value = 1.0f / (1.0f + (variation - speckle) * scale);
            value = value < 0.0f ? 0.0f : value;
            coefficient[row * columns + column] = value > 1.0f ? 1.0f : value;
        }
    }
}

static void diffuse(int64_t rows, int64_t columns, float rate, const float *now, const float *coefficient, float *next)
{
    int64_t pixels = rows * columns;
    float quarter_rate = 0.25f * rate;
    (void)pixels;
    LOOP(thread_limit(128) map(to : now[0:pixels], coefficient[0:pixels]) map(tofrom : next[0:pixels]))
    for (int64_t row = 0; row < rows; row++) {
        const float *here = now + row * columns, *north = row > 0 ? here - columns : here;
        const float *south = row < rows - 1 ? here + columns : here;
        const float *flow = coefficient + row * columns, *flow_south = row < rows - 1 ? flow + columns : flow;
        for (int64_t column = 0; column < columns; column++) {
            int64_t west = column > 0 ? column - 1 : column, east = column < columns - 1 ? column + 1 : column;
            float own = here[column];
            float divergence = flow[column] * (north[column] - own + here[west] - own) + flow_south[column] * (south[column] - own) +
                               flow[east] * (here[east] - own);
            next[row * columns + column] = own + quarter_rate * divergence;
        }
    }
}

int diffuse_on_device(const struct diffusion *diffusion, float *values, struct device_run *run)
{
    int64_t rows = diffusion->rows, columns = diffusion->columns, pixels = rows * columns;
    float *scratch = malloc(2 * (size_t)pixels * sizeof *scratch), *now = values, *next = scratch;
    if (scratch == NULL)
        return -1;
    float *coefficient = scratch + pixels;
    double began = seconds_now();
    TARGET(data map(to : values[0:pixels]) map(alloc : scratch[0 : 2 * pixels]))
    {
        for (int i = 0; i < diffusion->iterations; i++) {
            find_coefficients(rows, columns, speckle_of(diffusion, now), now, coefficient);
            diffuse(rows, columns, diffusion->rate, now, coefficient, next);
            float *written = next;
            next = now;
            now = written;
        }
        TARGET(update from(now[0:pixels]))
    }
    run->launches = 2 * diffusion->iterations;
    run->seconds = seconds_now() - began;
    if (now != values)
        memcpy(values, now, (size_t)pixels * sizeof *values);
    free(scratch);
    return 0;
}
