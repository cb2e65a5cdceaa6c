/*
 * serial.c - srad on the host: the reference for the check.
 *
 * It shares no code with kernels.cu. It follows the equations of Yu and Acton, "Speckle Reducing
 * Anisotropic Diffusion" (2002), in double precision. Like Rodinia's OpenMP version it keeps the
 * four differences of a pixel, which the kernels compute twice.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "srad.h"

/* The state of a pixel between the two halves of a step. */
struct pixel {
    double north, south, west, east; /* neighbour minus pixel; 0 beyond the border */
    double coefficient;
};

static double square(double x)
{
    return x * x;
}

/* Returns the square of the coefficient of variation in the sample. */
static double speckle_of(const struct diffusion *diffusion, const double *values)
{
    double sum = 0.0, squares = 0.0,
           count = (double)(diffusion->sample_rows * diffusion->sample_columns);
    for (int64_t row = 0; row < diffusion->sample_rows; row++)
        for (int64_t column = 0; column < diffusion->sample_columns; column++)
            sum += values[row * diffusion->columns + column];
    double mean = sum / count;
    for (int64_t row = 0; row < diffusion->sample_rows; row++)
        for (int64_t column = 0; column < diffusion->sample_columns; column++)
            squares += square(values[row * diffusion->columns + column] - mean);
    double speckle = squares / count / square(mean);
    return speckle < LEAST_SPECKLE ? LEAST_SPECKLE : speckle;
}

static void find_coefficient(struct pixel *pixel, double value, double speckle)
{
    double squares =
        square(pixel->north) + square(pixel->south) + square(pixel->west) + square(pixel->east);
    double laplacian = (pixel->north + pixel->south + pixel->west + pixel->east) / value;
    double variation =
        (squares / square(value) / 2.0 - square(laplacian) / 16.0) / square(1.0 + laplacian / 4.0);
    double coefficient = 1.0 / (1.0 + (variation - speckle) / (speckle * (1.0 + speckle)));
    if (coefficient < 0.0)
        coefficient = 0.0;
    if (coefficient > 1.0)
        coefficient = 1.0;
    pixel->coefficient = coefficient;
}

static void look_around(const struct diffusion *diffusion, const double *values, double speckle,
                        struct pixel *pixels)
{
    int64_t rows = diffusion->rows, columns = diffusion->columns;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const double *value = &values[row * columns + column];
            struct pixel *pixel = &pixels[row * columns + column];
            pixel->north = row > 0 ? value[-columns] - *value : 0.0;
            pixel->south = row < rows - 1 ? value[columns] - *value : 0.0;
            pixel->west = column > 0 ? value[-1] - *value : 0.0;
            pixel->east = column < columns - 1 ? value[1] - *value : 0.0;
            find_coefficient(pixel, *value, speckle);
        }
}

static void flow(const struct diffusion *diffusion, const struct pixel *pixels, double *values)
{
    int64_t rows = diffusion->rows, columns = diffusion->columns;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const struct pixel *pixel = &pixels[row * columns + column];
            double to_south = row < rows - 1 ? pixel[columns].coefficient : pixel->coefficient;
            double to_east = column < columns - 1 ? pixel[1].coefficient : pixel->coefficient;
            values[row * columns + column] +=
                (double)diffusion->rate / 4.0 *
                (pixel->coefficient * pixel->north + to_south * pixel->south +
                 pixel->coefficient * pixel->west + to_east * pixel->east);
        }
}

int diffuse_serially(const struct diffusion *diffusion, double *values)
{
    struct pixel *pixels = malloc((size_t)(diffusion->rows * diffusion->columns) * sizeof *pixels);
    if (pixels == NULL)
        return -1;
    for (int i = 0; i < diffusion->iterations; i++) {
        look_around(diffusion, values, speckle_of(diffusion, values), pixels);
        flow(diffusion, pixels, values);
    }
    free(pixels);
    return 0;
}
