/*
 * srad, the device side: the diffusion coefficient of each pixel, and the flow. See srad.c.
 *
 * Teams take rows and threads take columns, so neighbouring threads read neighbouring addresses.
 * The grid has one dimension, because some LLVM releases launch no other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * Computes the diffusion coefficient of each pixel: 1 if its neighbourhood varies like speckle, 0
 * at an edge in the picture. `speckle` is the square of the speckle's coefficient of variation.
 * A neighbour beyond the picture's border is the pixel at the border.
 */
REX_DEVICE_KERNEL(srad_coefficients, (int64_t) rows, (int64_t) columns, (float) speckle,
                  (const float *) image, (float *) coefficient)
{
    float scale = 1.0f / (speckle * (1.0f + speckle));

    REX_FOR_TEAMS(row, rows) {
        const float *here = image + row * columns;
        const float *north = row > 0 ? here - columns : here;
        const float *south = row < rows - 1 ? here + columns : here;
        REX_FOR_THREADS(column, columns) {
            float own = here[column], inverse = 1.0f / own;
            float to_north = north[column] - own;
            float to_south = south[column] - own;
            float to_west = here[column > 0 ? column - 1 : column] - own;
            float to_east = here[column < columns - 1 ? column + 1 : column] - own;

            float squares = to_north * to_north + to_south * to_south + to_west * to_west +
                            to_east * to_east;
            float gradient = squares * inverse * inverse;
            float laplacian = (to_north + to_south + to_west + to_east) * inverse;
            float slope = 1.0f + 0.25f * laplacian;
            float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (slope * slope);

            float value = 1.0f / (1.0f + (variation - speckle) * scale);
            value = value < 0.0f ? 0.0f : value;
            coefficient[row * columns + column] = value > 1.0f ? 1.0f : value;
        }
    }
}

/*
 * Computes one time step. Brightness flows between a pixel and each neighbour, weighted by a
 * coefficient: the pixel's own to north and west, the neighbour's to south and east.
 */
REX_DEVICE_KERNEL(srad_diffuse, (int64_t) rows, (int64_t) columns, (float) rate,
                  (const float *) now, (const float *) coefficient, (float *) next)
{
    float quarter_rate = 0.25f * rate;

    REX_FOR_TEAMS(row, rows) {
        const float *here = now + row * columns;
        const float *north = row > 0 ? here - columns : here;
        const float *south = row < rows - 1 ? here + columns : here;
        const float *flow = coefficient + row * columns;
        const float *flow_south = row < rows - 1 ? flow + columns : flow;
        REX_FOR_THREADS(column, columns) {
            int64_t west = column > 0 ? column - 1 : column;
            int64_t east = column < columns - 1 ? column + 1 : column;
            float own = here[column];
            float divergence = flow[column] * (north[column] - own + here[west] - own) +
                               flow_south[column] * (south[column] - own) +
                               flow[east] * (here[east] - own);
            next[row * columns + column] = own + quarter_rate * divergence;
        }
    }
}
