/*
 * Lesson 5: one number out of many: sums, extremes, counts.
 *
 * The threads of a kernel may run at once, and their results are combined in one place. The kernels
 * show three ways: loops for a sum or an extreme, atomics, and teams that share memory. All three
 * are right on a GPU and on the CPU. A CPU uses one thread, or many if kernels.cu is compiled with
 * -fopenmp.
 *
 * Run it:  make && $(make -s print-O)/examples/05_reductions/05_reductions
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <float.h>
#include <stdio.h>

enum { PART = 256, PARTS = 400, COUNT = PART * PARTS }; /* PART as in kernels.cu */

REX_KERNEL(dot);
REX_KERNEL(extremes);
REX_KERNEL(histogram);
REX_KERNEL(sums_of_parts);

static double x[COUNT], y[COUNT], sums[PARTS];
static int digit[COUNT];

/* The kernel adds to the value of *TO, so *TO is copied both ways. */
static int launch_dot(double *to)
{
    return REX_LAUNCH_FOR(dot, COUNT, REX_VALUE(COUNT), REX_TO(x, COUNT), REX_TO(y, COUNT),
                          REX_TOFROM(to, 1));
}

static int launch_extremes(double *least, double *most)
{
    return REX_LAUNCH_FOR(extremes, COUNT, REX_VALUE(COUNT), REX_TO(x, COUNT), REX_TOFROM(least, 1),
                          REX_TOFROM(most, 1));
}

static int launch_histogram(unsigned *how_often)
{
    return REX_LAUNCH_FOR(histogram, COUNT, REX_VALUE(COUNT), REX_TO(digit, COUNT),
                          REX_TOFROM(how_often, 10));
}

/* Teams take the parts, so librex cannot derive a grid from a number of indices. */
static int launch_sums(void)
{
    return REX_LAUNCH(sums_of_parts, 100, 128, REX_VALUE(PARTS), REX_TO(x, COUNT),
                      REX_FROM(sums, PARTS));
}

static int wrong_sums(void)
{
    int wrong = 0;
    for (int part = 0; part < PARTS; part++) {
        double sum = 0;
        for (int i = 0; i < PART; i++)
            sum += x[part * PART + i];
        wrong += sums[part] != sum;
    }
    return wrong;
}

int main(void)
{
    double expected = 0, sum = 0, least = DBL_MAX, most = -DBL_MAX;
    unsigned how_often[10] = {0}, expected_often[10] = {0}, miscounted = 0;
    if (rex_offload_init() != 0)
        return 1;
    /* Sums of small whole numbers are exact in any order. */
    for (int i = 0; i < COUNT; i++) {
        digit[i] = i % 100 < 90 ? i % 7 : 9;
        expected_often[digit[i]]++;
        x[i] = i % 1000 - 300;
        y[i] = i % 3;
        expected += x[i] * y[i];
    }
    if (launch_dot(&sum) != 0 || launch_extremes(&least, &most) != 0 ||
        launch_histogram(how_often) != 0 || launch_sums() != 0) {
        if (rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
            fprintf(stderr, "05_reductions: %s\n", rex_last_error());
        return 1;
    }
    for (int i = 0; i < 10; i++)
        miscounted += how_often[i] != expected_often[i];
    printf("dot product %.0f, from %.0f to %.0f, %u nines, %u digits and %d of %d sums wrong\n",
           sum, least, most, how_often[9], miscounted, wrong_sums(), PARTS);
    return sum != expected || least != -300 || most != 699 || miscounted != 0 || wrong_sums() != 0;
}
