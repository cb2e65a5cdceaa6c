/*
 * srad.c - srad's device run in the words of OpenMP; see examples/srad/offload.c. The sample is fetched a row at a time, the form that
 * every release of libomptarget copies whole.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "../../../../examples/common/common.h"
#include "../../../../examples/srad/srad.h"

static float take_sample(const struct diffusion *diffusion, float *now)
{
    double sum = 0.0, squares = 0.0, count = (double)(diffusion->sample_rows * diffusion->sample_columns);
    int64_t columns = diffusion->columns, width = diffusion->sample_columns;
    for (int64_t row = 0; row < diffusion->sample_rows; row++) {
#pragma omp target update from(now[row * columns : width])
        for (int64_t column = 0; column < width; column++) {
            double value = (double)now[row * columns + column];
            sum += value;
            squares += value * value;
        }
    }
    double mean = sum / count, ratio = (squares / count - mean * mean) / (mean * mean);
    return (float)(ratio < LEAST_SPECKLE ? LEAST_SPECKLE : ratio);
}

static void find_coefficients(int64_t rows, int64_t columns, float speckle, const float *image, float *coefficient)
{
    float scale = 1.0f / (speckle * (1.0f + speckle));
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) map(to : image[0 : rows * columns]) \
    map(tofrom : coefficient[0 : rows * columns])
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const float *here = image + row * columns;
            const float *north = row > 0 ? here - columns : here, *south = row < rows - 1 ? here + columns : here;
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

static void diffuse(int64_t rows, int64_t columns, float rate, const float *now, const float *coefficient, float *next)
{
    float quarter_rate = 0.25f * rate;
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) map(tofrom : next[0 : rows * columns]) \
    map(to : now[0 : rows * columns], coefficient[0 : rows * columns])
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const float *here = now + row * columns, *flow = coefficient + row * columns;
            const float *north = row > 0 ? here - columns : here, *south = row < rows - 1 ? here + columns : here;
            const float *flow_south = row < rows - 1 ? flow + columns : flow;
            int64_t west = column > 0 ? column - 1 : column, east = column < columns - 1 ? column + 1 : column;
            float own = here[column];
            float divergence = flow[column] * (north[column] - own + here[west] - own) + flow_south[column] * (south[column] - own) +
                               flow[east] * (here[east] - own);
            next[row * columns + column] = own + quarter_rate * divergence;
        }
}

int diffuse_on_device(const struct diffusion *diffusion, float *values, struct device_run *run)
{
    int64_t rows = diffusion->rows, columns = diffusion->columns, pixels = rows * columns;
    float *scratch = malloc(2 * (size_t)pixels * sizeof *scratch), *now = values, *next = scratch, *coefficient = scratch + pixels;
    if (scratch == NULL)
        return -1;
    run->launches = 2 * (int64_t)diffusion->iterations;
    double began = seconds_now();
#pragma omp target data map(to : values[0 : pixels]) map(alloc : scratch[0 : 2 * pixels])
    {
        for (int i = 0; i < diffusion->iterations; i++) {
            find_coefficients(rows, columns, take_sample(diffusion, now), now, coefficient);
            diffuse(rows, columns, diffusion->rate, now, coefficient, next);
            float *field = now;
            now = next;
            next = field;
        }
#pragma omp target update from(now[0 : pixels])
    }
    run->seconds = seconds_now() - began;
    if (now != values)
        memcpy(values, now, (size_t)pixels * sizeof *values);
    free(scratch);
    return 0;
}
