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

double *micro_cell(void)
{
    return one_address;
}

int micro_empty(void)
{
#pragma omp target
    {
    }
    return 0;
}

/* As many pointers to `one`, declared; as mapped sections; and how many neighbours are equal, half as many if all of them arrived. */
#define D4(n) double *a##n##0 = one_address, *a##n##1 = one_address, *a##n##2 = one_address, *a##n##3 = one_address
#define D16(n) D4(n##0); D4(n##1); D4(n##2); D4(n##3)
#define D64(n) D16(n##0); D16(n##1); D16(n##2); D16(n##3)
#define D256(n) D64(n##0); D64(n##1); D64(n##2); D64(n##3)
#define M4(n) a##n##0[0 : 1], a##n##1[0 : 1], a##n##2[0 : 1], a##n##3[0 : 1]
#define M16(n) M4(n##0), M4(n##1), M4(n##2), M4(n##3)
#define M64(n) M16(n##0), M16(n##1), M16(n##2), M16(n##3)
#define M256(n) M64(n##0), M64(n##1), M64(n##2), M64(n##3)
#define E4(n) (a##n##0 == a##n##1) + (a##n##2 == a##n##3)
#define E16(n) E4(n##0) + E4(n##1) + E4(n##2) + E4(n##3)
#define E64(n) E16(n##0) + E16(n##1) + E16(n##2) + E16(n##3)
#define E256(n) E64(n##0) + E64(n##1) + E64(n##2) + E64(n##3)

/* A compiler passes only what the region uses: all pointers are, without a look at what they point to. */
static void arguments_16(void)
{
    D16(_);
#pragma omp target map(alloc : M16(_))
    *a_00 += E16(_) == 8;
}

static void arguments_64(void)
{
    D64(_);
#pragma omp target map(alloc : M64(_))
    *a_000 += E64(_) == 32;
}

static void arguments_256(void)
{
    D256(_);
#pragma omp target map(alloc : M256(_))
    *a_0000 += E256(_) == 128;
}

int micro_arguments(int count)
{
    switch (count) {
    case 16: arguments_16(); return 0;
    case 64: arguments_64(); return 0;
    case 256: arguments_256(); return 0;
    default: return -1;
    }
}

int micro_axpy(double a, double *x, double *y, int64_t count, int mapped)
{
    (void)mapped; /* what is present is not copied again */
#pragma omp target teams distribute parallel for thread_limit(256) map(to : x[0 : count]) map(tofrom : y[0 : count])
    for (int64_t i = 0; i < count; i++)
        y[i] += a * x[i];
    return 0;
}

int micro_region(double *x, double *y, int64_t count, long launches)
{
#pragma omp target data map(tofrom : y[0 : count])
    for (; launches > 0; launches--)
        micro_axpy(1.0, x, y, count, 1);
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
