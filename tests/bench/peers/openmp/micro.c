/*
 * micro.c - tests/bench/micro in the words of OpenMP.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "../../micro/micro.h"

#include "../peer.h"

static double one, *const one_address = &one;

int micro_start(void)
{
    double *p = one_address;
    if (peer_open(NULL) != 0)
        return -1;
#pragma omp target enter data map(to : p[0 : 1])
    return micro_empty();
}

int micro_empty(void)
{
#pragma omp target
    {
    }
    return 0;
}

#define D4(n) double *a##n##0 = one_address, *a##n##1 = one_address, *a##n##2 = one_address, *a##n##3 = one_address
#define S4(n) *a##n##0 += *a##n##1 + *a##n##2 + *a##n##3
#define M4(n) a##n##0[0 : 1], a##n##1[0 : 1], a##n##2[0 : 1], a##n##3[0 : 1]

static void arguments_4(void)
{
    D4(_);
#pragma omp target map(alloc : M4(_))
    S4(_);
}

static void arguments_16(void)
{
    D4(_0);
    D4(_1);
    D4(_2);
    D4(_3);
#pragma omp target map(alloc : M4(_0), M4(_1), M4(_2), M4(_3))
    {
        S4(_0);
        S4(_1);
        S4(_2);
        S4(_3);
    }
}

int micro_arguments(int count)
{
    if (count == 4)
        arguments_4();
    else if (count == 16)
        arguments_16();
    else
        return 1;
    return 0;
}

int micro_axpy(double a, double *x, double *y, int64_t count, int mapped)
{
    (void)mapped; /* what is present is not copied again */
#pragma omp target teams distribute parallel for thread_limit(256) map(to : x[0 : count]) map(tofrom : y[0 : count])
    for (int64_t i = 0; i < count; i++)
        y[i] += a * x[i];
    return 0;
}

int micro_map(void *memory, int64_t bytes)
{
    char *p = memory;
#pragma omp target enter data map(to : p[0 : bytes])
    return 0;
}

int micro_unmap(void *memory, int64_t bytes)
{
    char *p = memory;
#pragma omp target exit data map(release : p[0 : bytes])
    return 0;
}

int micro_copy_to(void *memory, int64_t bytes)
{
    char *p = memory;
#pragma omp target update to(p[0 : bytes])
    return 0;
}

int micro_copy_from(void *memory, int64_t bytes)
{
    char *p = memory;
#pragma omp target update from(p[0 : bytes])
    return 0;
}

void *micro_pinned(size_t bytes)
{
    (void)bytes;
    return 0;
}

int micro_busy(void)
{
    double *p = one_address;
#pragma omp target map(alloc : p[0 : 1])
    {
        double value = *p;
        for (int i = 0; i < 200000; i++)
            value = value * 0.999999 + 1e-6;
        *p = value;
    }
    return 0;
}
