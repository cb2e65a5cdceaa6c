/*
 * Lesson 2: data that stays on the device from one launch to the next.
 *
 * Each cell of a row is alive or dead. Its next state follows from its own state and those of its
 * two neighbours. A launch computes one generation from the one before it. A data region copies the
 * cells to the device once, at the beginning, and back once, at the end.
 *
 * Run it:  make && $(make -s print-O)/examples/02_data/02_data
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

enum { CELLS = 10000, GENERATIONS = 500 };

REX_KERNEL(generation);

/* The cells: the first buffer holds the even generations, the second the odd generations. */
static int32_t cells[2][CELLS];

static int count_alive(const int32_t *row)
{
    int alive = 0;
    for (int i = 0; i < CELLS; i++)
        alive += row[i];
    return alive;
}

/*
 * Computes @count generations from generation @first on. The region has mapped the memory, so the
 * kernel receives device addresses, and the launches copy nothing. REX_PRESENT demands mapped
 * memory: without the region the launch returns REX_EABSENT. Without REX_PRESENT, REX_ALLOC would
 * map scratch memory if there is no region, and the results would be wrong.
 */
static int advance(int first, int count)
{
    int error = 0;
    for (int i = first; i < first + count && error == 0; i++)
        error = REX_LAUNCH_FOR(generation, CELLS, REX_VALUE(CELLS),
                               REX_PRESENT(REX_ALLOC(cells[i % 2], CELLS)),
                               REX_PRESENT(REX_ALLOC(cells[(i + 1) % 2], CELLS)));
    return error;
}

static int live(void)
{
    int error;
    /*
     * The region is on the default device, -1. It copies the first buffer in and out, and only
     * allocates device memory for the second. The region ends with the block, also if `return`,
     * `break` or `goto` leaves the block. If the beginning fails, the block does not run. `error`
     * receives the error of the beginning or of the end.
     */
    REX_DATA_REGION(&error, -1, REX_TOFROM(cells[0], CELLS), REX_ALLOC(cells[1], CELLS)) {
        error = advance(0, GENERATIONS / 2);
        /* Inside the region an update copies the cells that the host wants to read. */
        REX_MAP(look, REX_FROM(cells[0], CELLS));
        if (error == 0)
            error = rex_data_update(-1, &look);
        if (error == 0)
            printf("generation %d: %d alive\n", GENERATIONS / 2, count_alive(cells[0]));
        if (error == 0)
            error = advance(GENERATIONS / 2, GENERATIONS / 2);
    }
    return error;
}

/* Computes all generations on the host, in ROW. */
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
    if (live() != 0) {
        if (rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
            fprintf(stderr, "02_data: %s\n", rex_last_error());
        return 1;
    }

    int wrong = 0;
    for (int i = 0; i < CELLS; i++)
        wrong += cells[0][i] != expected[i];
    printf("generation %d: %d alive, %d of %d cells wrong\n", GENERATIONS, count_alive(cells[0]),
           wrong, CELLS);
    return wrong != 0;
}
