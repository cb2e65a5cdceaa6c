/*
 * Lesson 2: data that stays on the device from one launch to the next.
 *
 * A row of cells, each alive or not; what it is next follows from itself and its two neighbours. A
 * launch makes one generation out of the one before it. In a data region the cells are copied to
 * the device once, at the beginning, and back once, at the end.
 *
 * Run it:  make && $(make -s print-O)/examples/02_data/02_data
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

enum { CELLS = 10000, GENERATIONS = 500 };

REX_KERNEL(generation);

/* The cells, in two buffers: generations go from one to the other and back. */
static int32_t cells[2][CELLS];

/*
 * REX_ALLOC copies nothing: the memory is mapped by the region, and the kernel gets its device
 * address. (REX_TOFROM would do the same here: what is mapped already is not copied again.)
 */
static int live(void)
{
    struct rex_kernel_launch launch = rex_kernel_launch_of(REX_KERNEL_ID(generation), 80, 128);
    /* The first buffer is copied in and out; the second one only gets memory on the device. */
    REX_DATA_MAP(region, REX_TOFROM(cells[0], CELLS), REX_ALLOC(cells[1], CELLS));
    REX_DATA_MAP(look, REX_FROM(cells[0], CELLS));
    int result = 0;
    /* The region ends with the block, however it is left. Where the beginning or the end fails, `result` is the error. */
    REX_DATA_REGION(-1, region, &result) {
        for (int i = 0; i < GENERATIONS && result == 0; i++) {
            REX_MAP(arguments, REX_VALUE((int64_t)CELLS), REX_ALLOC(cells[i % 2], CELLS),
                    REX_ALLOC(cells[(i + 1) % 2], CELLS));
            result = rex_launch(&launch, &arguments);
        }
        if (result == 0)
            result = rex_data_update(-1, &look);
    }
    return result;
}

/* The same on the host, into ROW. */
static void live_on_the_host(int32_t *row)
{
    static int32_t next[CELLS];
    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int i = 0; i < CELLS; i++) {
            int left = row[(i + CELLS - 1) % CELLS], right = row[(i + 1) % CELLS];
            next[i] = (110 >> (4 * left + 2 * row[i] + right)) & 1;
        }
        for (int i = 0; i < CELLS; i++)
            row[i] = next[i];
    }
}

int main(void)
{
    static int32_t expected[CELLS];
    for (int i = 0; i < CELLS; i++)
        cells[0][i] = expected[i] = i % 7 == 0;
    live_on_the_host(expected);
    if (live() != 0)
        return 1;

    int wrong = 0;
    for (int i = 0; i < CELLS; i++)
        wrong += cells[0][i] != expected[i];
    printf("generation %d: %d of %d cells wrong\n", GENERATIONS, wrong, CELLS);
    return wrong != 0;
}
