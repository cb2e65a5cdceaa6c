/*
 * hotspot, the device side: the stencil, and the extremes of each row. See hotspot.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Factors of the model in step_row(). */
struct factors {
    double gain;     /* step / capacity */
    double lateral;  /* 1 / R */
    double vertical; /* 1 / Rz */
    double ambient;
};

/*
 * Computes one time step of a row, by the threads of a team. Each cell receives its power and heat
 * from its four neighbours, and loses heat to the surroundings:
 *
 *     next = now + step / capacity * (power + (north + south - 2 now) / R + (west + east - 2 now) /
 *                                     R + (ambient - now) / Rz)
 *
 * At an edge of the chip the missing neighbour is the cell itself, so no heat flows. The host
 * passes reciprocals, because a division costs a GPU far more than a product.
 */
REX_DEVICE void step_row(int64_t size, struct factors by, const double *power, const double *north,
                         const double *here, const double *south, double *next)
{
    REX_FOR_THREADS(column, size) {
        double own = here[column];
        double west = here[column > 0 ? column - 1 : column];
        double east = here[column < size - 1 ? column + 1 : column];
        double in_plane = north[column] + south[column] + west + east - 4.0 * own;
        double watts = power[column] + in_plane * by.lateral + (by.ambient - own) * by.vertical;
        next[column] = own + by.gain * watts;
    }
}

/*
 * Computes a step of the whole chip.
 *
 * Teams take rows and threads take the columns of a row. So no division finds a cell's place,
 * neighbouring threads read neighbouring addresses, and the grid has one dimension.
 */
REX_DEVICE_KERNEL(hotspot_step, (int64_t) size, (double) gain, (double) lateral, (double) vertical,
                  (double) ambient, (const double *) power, (const double *) now, (double *) next)
{
    struct factors by = {gain, lateral, vertical, ambient};
    REX_FOR_TEAMS(row, size) {
        const double *here = now + row * size;
        step_row(size, by, power + row * size, row > 0 ? here - size : here, here,
                 row < size - 1 ? here + size : here, next + row * size);
    }
}

/*
 * Computes a step of @rows rows, from row @top of the chip on. The pointers point to row @top. The
 * memory before and after the rows has rows of other devices.
 */
REX_DEVICE_KERNEL(hotspot_rows, (int64_t) size, (int64_t) top, (int64_t) rows, (double) gain,
                  (double) lateral, (double) vertical, (double) ambient, (const double *) power,
                  (const double *) now, (double *) next)
{
    struct factors by = {gain, lateral, vertical, ambient};
    REX_FOR_TEAMS(row, rows) {
        const double *here = now + row * size;
        step_row(size, by, power + row * size, top + row > 0 ? here - size : here, here,
                 top + row < size - 1 ? here + size : here, next + row * size);
    }
}

/* Finds the lowest of @count temperatures, and the lowest negated temperature. */
REX_DEVICE_KERNEL(hotspot_rows_extremes, (int64_t) count, (const double *) temp,
                  (double *) extremes)
{
    REX_FOR_MIN(i, count, &extremes[0], temp[i]);
    REX_FOR_MIN(i, count, &extremes[1], -temp[i]);
}

/* Finds the lowest and highest temperature of every row, by one thread a row: it runs rarely. */
REX_DEVICE_KERNEL(hotspot_extremes, (int64_t) size, (const double *) temp, (double *) coldest,
                  (double *) hottest)
{
    REX_FOR(row, size) {
        double low = temp[row * size], high = low;
        for (int64_t column = 1; column < size; column++) {
            double value = temp[row * size + column];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        coldest[row] = low;
        hottest[row] = high;
    }
}
