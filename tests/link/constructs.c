/*
 * constructs.c - OpenMP offload constructs for clang to compile. Prints what each of them computed; the exit status is made from that, so
 * that a run can be told from one that ended early. With WITH_HAND it runs hand() in between, which is in a shared object of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>

#ifdef WITH_HAND
#include "hand.h"
#endif

/* omp.h comes with packages that not every release here has. */
extern int omp_get_num_devices(void);
extern int omp_get_default_device(void);
extern int omp_target_is_present(const void *pointer, int device);

enum { N = 500 };

typedef struct {
    int count;
    double *values;
} vector;

#pragma omp declare mapper(vector v) map(v, v.values[0 : v.count])

#pragma omp declare target
int factors[4] = {1, 2, 3, 4};

int scaled(int i)
{
    return i * factors[i % 4];
}
#pragma omp end declare target

static long total(const int *a)
{
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += a[i];
    return sum;
}

static long plain(void)
{
    int x = 20;
    factors[0] = 1000; /* the device keeps its own value: the host's would show that nothing was offloaded */
#pragma omp target map(tofrom : x)
    x += factors[0];
    factors[0] = 1;
    return x;
}

static long loop(int *a)
{
#pragma omp target teams distribute parallel for map(from : a[0 : N]) num_teams(4)
    for (int i = 0; i < N; i++)
        a[i] = scaled(i);
    return total(a);
}

static long reduction(const int *a)
{
    long sum = 0;
#pragma omp target teams distribute parallel for map(to : a[0 : N]) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += a[i];
    return sum;
}

static long data_region(int *a)
{
    long before, inside;
#pragma omp target data map(to : a[0 : N])
    {
#pragma omp target map(a[0 : N])
        for (int i = 0; i < N; i++)
            a[i] += 1;
        before = total(a);
#pragma omp target update from(a[0 : N / 2])
        inside = total(a);
    }
    return 3 * before + 5 * inside + total(a);
}

static long enter_exit(int *a)
{
#pragma omp target enter data map(to : a[0 : N])
    a[0] = -1;
#pragma omp target update to(a[0 : 1])
#pragma omp target map(a[0 : N])
    a[1] = a[0] - 1;
    int present = omp_target_is_present(a, omp_get_default_device());
#pragma omp target exit data map(from : a[0 : N])
    return present * 1000 - a[1] + 10 * omp_target_is_present(a, omp_get_default_device());
}

static long global(void)
{
    int seen = 0;
    factors[2] = 30;
#pragma omp target update to(factors)
#pragma omp target map(from : seen)
    {
        seen = factors[2];
        factors[3] = 40;
    }
#pragma omp target update from(factors)
    return seen + factors[3];
}

/* No parallel region inside: on the host device that hangs in libomp's helper threads, without librex too. */
static long asynchronous(void)
{
    int b = 0, c = 0;
#pragma omp target map(tofrom : b) nowait
    b = factors[1] + 5;
#pragma omp target map(tofrom : c) nowait
    c = factors[0] + 20;
#pragma omp taskwait
    return b + c;
}

static long mapper(void)
{
    double values[5] = {1, 2, 3, 4, 5};
    vector v = {5, values};
#pragma omp target map(tofrom : v)
    for (int i = 0; i < v.count; i++)
        v.values[i] *= 2;
    return (long)(values[0] + values[4]);
}

static long status;

static void say(const char *what, long value)
{
    printf("%s %ld\n", what, value);
    status = (status * 31 + value) % 100;
}

int main(void)
{
    static int a[N];
    say("devices", omp_get_num_devices() > 0);
    say("target", plain());
    say("teams distribute parallel for", loop(a));
#ifdef WITH_HAND
    say("by hand", hand());
#endif
    say("reduction", reduction(a));
    say("data", data_region(a));
    say("enter, update, exit", enter_exit(a));
    say("declare target", global());
    say("nowait", asynchronous());
    say("mapper", mapper());
#ifdef WITH_HAND
    say("by hand", hand());
#endif
    return (int)(status + 1);
}
