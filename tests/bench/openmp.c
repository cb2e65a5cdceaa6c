/*
 * openmp.c - OpenMP for clang: microseconds of a launch with its wait, the median of rounds; for the figures on rex-run.
 *
 *     clang-19 -O2 -fopenmp --offload-arch=sm_90 tests/bench/openmp.c -o openmp
 *     ./openmp; rex-run ./openmp; rex-run --wait=spin ./openmp
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 512, CALLS = 2000, ROUNDS = 15 };

static double x[N], y[N];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void empty(void)
{
#pragma omp target
    {
    }
}

/* Inside a data region everything is on the device already; outside of one x goes there, and y there and back. */
static void axpy(double a)
{
#pragma omp target teams distribute parallel for num_teams(4) thread_limit(128) map(to : x) map(tofrom : y)
    for (int i = 0; i < N; i++)
        y[i] += a * x[i];
}

static void call_empty(int i)
{
    (void)i;
    empty();
}

static void call_axpy(int i)
{
    axpy(i % 2 == 0 ? 2.0 : -2.0);
}

static int compare(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static double median(void (*call)(int))
{
    double each[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double began = now();
        for (int i = 0; i < CALLS; i++)
            call(i);
        each[round] = (now() - began) / CALLS;
    }
    qsort(each, ROUNDS, sizeof *each, compare);
    return each[ROUNDS / 2];
}

int main(void)
{
    int on_host = 1;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1;
    }
    extern int omp_is_initial_device(void);
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    double nothing = median(call_empty), mapped = median(call_axpy), resident;
#pragma omp target data map(to : x) map(tofrom : y)
    {
        resident = median(call_axpy);
        axpy(2.0);
    }
    printf("empty %.1f  resident axpy %.1f  mapped axpy %.1f us%s\n", nothing, resident, mapped, on_host ? ", on the CPU" : "");
    for (int i = 0; i < N; i++)
        if (y[i] != 1 + 2.0 * i) {
            printf("y[%d] is %g and not %g\n", i, y[i], 1 + 2.0 * i);
            return 1;
        }
    return 0;
}
