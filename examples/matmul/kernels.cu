/*
 * matmul, the device side. See matmul.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * A team computes one tile of c after another, TILE x TILE numbers. Its threads together copy
 * DEPTH columns of a and DEPTH rows of b at a time to shared memory. Each copied number is used for
 * TILE products.
 *
 * On a GPU a thread computes ROWS numbers of one column of the tile, in registers. The kernel must
 * be launched with THREADS threads. On the CPU a team is one thread, which computes the whole tile.
 */
enum {
    TILE = 64,
    DEPTH = 16,
    THREADS = 256,
    ROW_STEP = REX_ON_GPU ? THREADS / TILE : 1, /* distance of a thread's rows */
    COLUMN_STEP = REX_ON_GPU ? TILE : 1,
    ROWS = TILE / ROW_STEP,
    COLUMNS = TILE / COLUMN_STEP
};

/* Copies @rows x @columns numbers of @matrix, from @row and @column on, to @part, or zeros. */
REX_DEVICE void bring(double *part, int64_t rows, int64_t columns, const double *matrix,
                      int64_t height, int64_t width, int64_t row, int64_t column)
{
    REX_FOR_THREADS(i, rows * columns) {
        int64_t y = row + i / columns, x = column + i % columns;
        part[i] = y < height && x < width ? matrix[y * width + x] : 0.0;
    }
}

/* Computes c = a * b: a and c have @rows x @size numbers, b has @size x @size. */
REX_DEVICE_KERNEL(matmul, (int64_t) rows, (int64_t) size, (const double *) a, (const double *) b,
                  (double *) c)
{
    int64_t across = (size + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    int first_row = (int)rex_thread(0) / TILE, first_column = (int)rex_thread(0) % TILE;

    REX_FOR_TEAMS(tile, down * across) {
        REX_SHARED double left[TILE * DEPTH], right[DEPTH * TILE];
        int64_t top = tile / across * TILE, side = tile % across * TILE;
        double sum[ROWS][COLUMNS] = {{0.0}};
        for (int64_t at = 0; at < size; at += DEPTH) {
            bring(left, TILE, DEPTH, a, rows, size, top, at);
            bring(right, DEPTH, TILE, b, size, size, at, side);
            rex_barrier();
            for (int k = 0; k < DEPTH; k++)
                for (int row = 0; row < ROWS; row++)
                    for (int column = 0; column < COLUMNS; column++)
                        sum[row][column] += left[(first_row + row * ROW_STEP) * DEPTH + k] *
                                            right[k * TILE + first_column + column * COLUMN_STEP];
            rex_barrier(); /* before the next copies overwrite left and right */
        }
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++) {
                int64_t y = top + first_row + row * ROW_STEP;
                int64_t x = side + first_column + column * COLUMN_STEP;
                if (y < rows && x < size)
                    c[y * size + x] = sum[row][column];
            }
    }
}
