/*
 * Lesson 10: a solver. Conjugate gradients solve A x = b for a sparse matrix A: the differences
 * between the points of a grid and their neighbours.
 *
 * One region keeps the matrix and the vectors on the device. Each step is six launches of four
 * kernels. The host reads two numbers of a step, the dot products, and decides when to stop.
 *
 * Run it:  make && $(make -s print-O)/examples/10_solver/10_solver
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <math.h>
#include <stdio.h>

enum { EDGE = 64, ROWS = EDGE * EDGE, MOST_ENTRIES = 5 * ROWS, MOST_STEPS = 1000 };

REX_KERNEL(multiply);
REX_KERNEL(dot);
REX_KERNEL(add);
REX_KERNEL(turn);

/* A in compressed rows (CSR). r is b at the beginning. The solution x is 1 everywhere. */
static int64_t first[ROWS + 1], column[MOST_ENTRIES];
static double value[MOST_ENTRIES], x[ROWS], r[ROWS], p[ROWS], product[ROWS];

static void add_entry(int64_t *entries, int64_t other, double number)
{
    column[*entries] = other;
    value[(*entries)++] = number;
}

/* Row i of A has 4 for point i and -1 for each neighbour. b is the sum of each row, so x is 1. */
static void make_system(void)
{
    int64_t entries = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        int64_t across = row % EDGE, down = row / EDGE;
        first[row] = entries;
        add_entry(&entries, row, 4);
        if (across > 0)
            add_entry(&entries, row - 1, -1);
        if (across < EDGE - 1)
            add_entry(&entries, row + 1, -1);
        if (down > 0)
            add_entry(&entries, row - EDGE, -1);
        if (down < EDGE - 1)
            add_entry(&entries, row + EDGE, -1);
        for (int64_t i = first[row]; i < entries; i++)
            r[row] += value[i];
        p[row] = r[row];
    }
    first[ROWS] = entries;
}

/* The launch copies the sum back, because no region maps it. The vectors stay on the device. */
static int dot_product(const double *one, const double *other, double *sum)
{
    *sum = 0;
    return REX_LAUNCH_FOR(dot, ROWS, REX_VALUE(ROWS), REX_ALLOC(one, ROWS),
                          REX_ALLOC(other, ROWS), REX_TOFROM(sum, 1));
}

static int add_to(double *y, double factor, const double *one)
{
    return REX_LAUNCH_FOR(add, ROWS, REX_VALUE(ROWS), REX_VALUE(factor),
                          REX_ALLOC(one, ROWS), REX_ALLOC(y, ROWS));
}

/* Takes one step. *square is the square of the residual, before and after the step. */
static int take_step(double *square)
{
    double curvature, next;
    int error = REX_LAUNCH_FOR(multiply, ROWS, REX_VALUE(ROWS), REX_ALLOC(first, ROWS + 1),
                               REX_ALLOC(column, first[ROWS]), REX_ALLOC(value, first[ROWS]),
                               REX_ALLOC(p, ROWS), REX_ALLOC(product, ROWS));
    if (error == 0)
        error = dot_product(p, product, &curvature);
    if (error == 0)
        error = add_to(x, *square / curvature, p);
    if (error == 0)
        error = add_to(r, -*square / curvature, product);
    if (error == 0)
        error = dot_product(r, r, &next);
    if (error == 0)
        error = REX_LAUNCH_FOR(turn, ROWS, REX_VALUE(ROWS), REX_VALUE(next / *square),
                               REX_ALLOC(r, ROWS), REX_ALLOC(p, ROWS));
    *square = error == 0 ? next : *square;
    return error;
}

int main(void)
{
    int error, steps = 0, wrong = 0;
    double square;
    make_system();
    REX_DATA_REGION(&error, -1, REX_TO(first, ROWS + 1), REX_TO(column, first[ROWS]),
                    REX_TO(value, first[ROWS]), REX_TOFROM(x, ROWS), REX_TO(r, ROWS),
                    REX_TO(p, ROWS), REX_ALLOC(product, ROWS)) {
        error = dot_product(r, r, &square);
        for (; error == 0 && sqrt(square) > 1e-9 && steps < MOST_STEPS; steps++)
            error = take_step(&square);
    }
    if (error == REX_EHOST)
        fprintf(stderr, "10_solver: %s\n", rex_last_error());
    if (error != 0)
        return 1; /* librex has printed all other errors */

    for (int i = 0; i < ROWS; i++)
        wrong += !(fabs(x[i] - 1) < 1e-8); /* NaN counts as wrong */
    printf("%d steps on the %s: %d of %d unknowns wrong\n", steps, rex_on_host() ? "CPU" : "GPU",
           wrong, ROWS);
    return wrong != 0;
}
