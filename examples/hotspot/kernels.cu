/*
 * hotspot, the device side: the stencil, and the extremes of each row. See hotspot.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * One time step. Each cell receives its power and heat from its four neighbours and loses heat to the surroundings:
 *
 *     next = now + step / capacity * (power + (north + south - 2 now) / R + (west + east - 2 now) / R
 *                                     + (ambient - now) / Rz)
 *
 * At an edge of the chip the missing neighbour is the cell itself, so that nothing flows. The factors arrive as the
 * host's reciprocals, because a division costs a GPU far more than a product.
 *
 * Teams take rows and threads take the columns of a row: no division to find a cell's place, neighbouring threads read
 * neighbouring addresses, and the grid has one dimension, all that some LLVM releases launch.
 */
REX_DEVICE_KERNEL(hotspot_step, rex_arg packed_size, rex_arg packed_gain, rex_arg packed_lateral,
                  rex_arg packed_vertical, rex_arg packed_ambient, const double *power, const double *now, double *next)
{
    int64_t size = rex_arg_int(packed_size);
    double gain = rex_arg_double(packed_gain);         /* step / capacity */
    double lateral = rex_arg_double(packed_lateral);   /* 1 / R */
    double vertical = rex_arg_double(packed_vertical); /* 1 / Rz */
    double ambient = rex_arg_double(packed_ambient);

    for (int64_t row = rex_team(0); row < size; row += rex_num_teams(0)) {
        const double *here = now + row * size;
        const double *north = row > 0 ? here - size : here;
        const double *south = row < size - 1 ? here + size : here;
        for (int64_t column = rex_thread(0); column < size; column += rex_num_threads(0)) {
            double own = here[column];
            double west = here[column > 0 ? column - 1 : column];
            double east = here[column < size - 1 ? column + 1 : column];
            double in_plane = north[column] + south[column] + west + east - 4.0 * own;
            next[row * size + column] =
                own + gain * (power[row * size + column] + in_plane * lateral + (ambient - own) * vertical);
        }
    }
}

/*
 * The lowest and highest temperature of every row, one thread to a row: the host wants to know now and then, not often.
 */
REX_DEVICE_KERNEL(hotspot_extremes, rex_arg packed_size, const double *temp, double *coldest, double *hottest)
{
    int64_t size = rex_arg_int(packed_size);
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
