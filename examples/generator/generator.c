/*
 * Runs and checks the code that a generator made out of work.loops: three loops and a data region.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdint.h>
#include <stdio.h>

struct series {
    int64_t count;
    double *values;
};

/* Generated. Each returns 0, -1 if the host version is to run, or a lower number for an error. */
int keep_begin(int64_t n, double *x, double *y);
int keep_end(int64_t n, double *x, double *y);
int axpy(int64_t n, double a, const double *x, double *y);
int set_part(int32_t first, int32_t count, float value, double *y);
int scale(struct series *s, double by);

enum { N = 1000, FIRST = 100, PART = 50 };

static int report(const char *what, int result, int wrong)
{
    printf("%s: %s, %d of %d values wrong\n", what,
           result == 0    ? "launched"
           : result == -1 ? "left to the host"
                          : "an error",
           wrong, N);
    return result != 0 || wrong != 0;
}

int main(void)
{
    static double x[N], y[N];
    int wrong = 0, failed = 0;
    for (int i = 0; i < N; i++)
        x[i] = i;

    /* In the region the arrays stay on the device from launch to launch. */
    int result = keep_begin(N, x, y);
    for (int step = 0; step < 3 && result == 0; step++)
        result = axpy(N, 2.0, x, y);
    if (result == 0)
        result = keep_end(N, x, y);
    for (int i = 0; i < N; i++)
        wrong += y[i] != 6.0 * i;
    failed |= report("axpy, three times in a region", result, wrong);

    result = set_part(FIRST, PART, 0.5f, y);
    wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += y[i] != (i >= FIRST && i < FIRST + PART ? 0.5 : 6.0 * i);
    failed |= report("a part is set", result, wrong);

    struct series series = {N, x};
    result = scale(&series, 10.0);
    wrong = series.values != x || series.count != N;
    for (int i = 0; i < N; i++)
        wrong += x[i] != 10.0 * i;
    return failed | report("a struct with a pointer", result, wrong);
}
