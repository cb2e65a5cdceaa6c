/*
 * pathfinder - finds the cheapest way from the top of a grid to its bottom. A step goes one row
 * down, and at most one column aside.
 *
 * Dynamic programming, of the Rodinia suite, on librex: a launch for each row, all in one data
 * region. pathfinder.h lists the files. examples/pathfinder_raw is this program in the form of
 * generated code.
 *
 * Run it:  make && $(make -s print-O)/examples/pathfinder/pathfinder --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "pathfinder.h"

static int compute(const struct settings *settings, const struct grid *grid, int32_t *cheapest)
{
    struct device_run run = {.device = settings->device, .ways = {.way = settings->way}};
    struct check check = {0};
    if (walk_on_device(grid, cheapest, &run) != 0)
        return 1;
    if (settings->verify && check_against_serial(grid, cheapest, &check) != 0)
        return 1;
    print_line("pathfinder", "%lld columns, %lld rows, costs generated", (long long)grid->columns,
               (long long)grid->rows);
    print_run(settings, run.launches, run.seconds);
    print_ways(&run.ways);
    print_line("result", "the cheapest way costs %d", least_cost(cheapest, grid->columns));
    return print_check(settings, check.wrong == 0, check.seconds, "%lld of %lld costs wrong",
                       (long long)check.wrong, (long long)grid->columns);
}

static int run_all(const struct settings *settings, int64_t rows)
{
    struct grid grid;
    if (make_grid(&grid, rows, settings->size) != 0)
        return 1;
    int32_t *cheapest = malloc((size_t)grid.columns * sizeof *cheapest);
    if (cheapest == NULL)
        fputs("pathfinder: out of memory\n", stderr);
    int status = cheapest != NULL ? compute(settings, &grid, cheapest) : 1;
    free(cheapest);
    free(grid.cost);
    return status;
}

int main(int argc, char **argv)
{
    int64_t rows = DEFAULT_ROWS;
    const struct extra_option extra[] = {
        {"rows", "R", "rows of the grid (100)", NULL, &rows, 1, MOST_ROWS},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct settings settings = {
        .program = "pathfinder",
        .purpose = "Finds the cheapest ways down a grid, to each cell of its last row, on a\n"
                   "device of libomptarget, and checks the result against a serial run.",
        .unit = "columns of the grid",
        .size = DEFAULT_COLUMNS,
        .smallest = 1,
        .largest = MOST_COLUMNS,
        .extra = extra,
        .has_ways = 1,
    };
    read_options(&settings, argc, argv);
    return start_offload(&settings) != 0 ? 1 : run_all(&settings, rows);
}
