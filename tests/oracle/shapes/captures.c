/*
 * captures.c - what no map clause names: captured variables, private copies, device addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "shape.h"

#include "types.h"

#ifndef ORACLE_CLANG
REX_KERNEL(sum);
REX_KERNEL_DECLARE(bump);
REX_KERNEL(store);
REX_KERNEL(nothing);
REX_KERNEL(set_if_here);
REX_KERNEL(add_all);
REX_KERNEL(vla_sum);
REX_KERNEL(vla_section);
REX_KERNEL(private_copies);
REX_KERNEL(small_copy);
REX_KERNEL(mixed);
REX_KERNEL_DECLARE(record_nx);
#endif

SHAPE(no_captures)
{
    int done = 1;
#ifdef ORACLE_CLANG
#pragma omp target
    {
    }
#else
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(nothing), 1, 1);
    CHECK(rex_launch(&launch, NULL));
#endif
    RESULT(done);
}

SHAPE(capture_struct)
{
    struct record r = {.n = 3, .x = 4};
    OBJECT(r);
#ifdef ORACLE_CLANG
#pragma omp target
    {
        r.n += 1;
        r.x += 2;
    }
#else
    REX_MAP(map, REX_IMPLICIT(REX_OBJECT(REX_MAP_TOFROM, r)));
    LAUNCH(record_nx, map);
#endif
    RESULT(r.n);
    RESULT(r.x);
}

SHAPE(capture_scalars)
{
    char c = -2;
    short h = -300;
    int i = -70000;
    long l = 80000;
    _Bool t = 1;
    float f = 2.5f;
    double d = -3.5;
    int s = 1;
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : s)
    s += c + h + i + (int)l + t + (int)f + (int)d;
#else
    REX_MAP(map, REX_OBJECT(REX_MAP_TOFROM, s), REX_IMPLICIT(REX_VALUE(c)), REX_IMPLICIT(REX_VALUE(h)), REX_IMPLICIT(REX_VALUE(i)),
            REX_IMPLICIT(REX_VALUE(l)), REX_IMPLICIT(REX_VALUE(t)), REX_IMPLICIT(REX_VALUE(f)), REX_IMPLICIT(REX_VALUE(d)));
    LAUNCH(add_all, map);
#endif
    RESULT(s);
}

SHAPE(capture_pointer_present)
{
    int a[8], *p = a, s = 0;
    FILL(a);
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target data map(to : a)
    {
#pragma omp target map(from : s)
        s = p != NULL ? p[1] : -1;
    }
#else
    REX_MAP(region, REX_TO(a, 8));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_POINTER(p));
        LAUNCH(set_if_here, map);
    }
#endif
    RESULT(s);
}

SHAPE(capture_vla)
{
    int n = 6;
    int v[n];
    FILL_N(v, 6);
    OBJECT_AT("v", v, 6 * sizeof *v);
#ifdef ORACLE_CLANG
#pragma omp target
    v[0] += (int)(sizeof v / sizeof *v) + n;
#else
    REX_MAP(map, REX_IMPLICIT(REX_VALUE((size_t)n)), REX_IMPLICIT(REX_TOFROM(v, n)), REX_IMPLICIT(REX_VALUE(n)));
    LAUNCH(vla_sum, map);
#endif
    RESULT_AT("v", v, 6 * sizeof *v);
}

SHAPE(vla_part)
{
    int n = 6;
    int v[n];
    FILL_N(v, 6);
    OBJECT_AT("v", v, 6 * sizeof *v);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : v[1 : 2])
    v[1] += 5;
#else
    REX_MAP(map, REX_IMPLICIT(REX_VALUE((size_t)n)), REX_SECTION(REX_MAP_TOFROM, v, 1, 2));
    LAUNCH(vla_section, map);
#endif
    RESULT_AT("v", v, 6 * sizeof *v);
}

/* DEFAULT(name, behaviour:category, row): defaultmap for a captured array. */
#ifdef ORACLE_CLANG
#define PRAGMA(text) _Pragma(#text)
#define DEFAULT_LAUNCH(rule, row)                                              \
    PRAGMA(omp target map(tofrom : s) defaultmap(rule))                        \
    s = a[0] + a[1]
#else
#define DEFAULT_LAUNCH(rule, row)                                              \
    REX_MAP(map, REX_OBJECT(REX_MAP_TOFROM, s), row);                         \
    LAUNCH(sum, map)
#endif
#define DEFAULT(name, rule, row)                                               \
    SHAPE(name)                                                                \
    {                                                                          \
        int a[4], s = 0;                                                       \
        FILL(a);                                                               \
        OBJECT(s);                                                             \
        DEFAULT_LAUNCH(rule, row);                                             \
        RESULT(s);                                                             \
    }
DEFAULT(default_to, to : aggregate, REX_IMPLICIT(REX_TO(a, 4)))
DEFAULT(default_tofrom, tofrom : aggregate, REX_IMPLICIT(REX_TOFROM(a, 4)))
DEFAULT(default_firstprivate, firstprivate : aggregate, REX_IMPLICIT(REX_FIRSTPRIVATE(a)))

SHAPE(default_tofrom_scalar)
{
    int s = 4;
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target defaultmap(tofrom : scalar)
    s += 1;
#else
    REX_MAP(map, REX_IMPLICIT(REX_OBJECT(REX_MAP_TOFROM, s)));
    LAUNCH(bump, map);
#endif
    RESULT(s);
}

SHAPE(firstprivate_big)
{
    int a[4], s = 0;
    struct record r = {.n = 4};
    FILL(a);
    OBJECT(r);
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target firstprivate(a, r) map(from : s)
    s = a[1] + r.n;
#else
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_FIRSTPRIVATE(a), REX_FIRSTPRIVATE(r));
    LAUNCH(private_copies, map);
#endif
    RESULT(s);
}

/* A struct goes as a copy in memory, however small. */
SHAPE(firstprivate_small_struct)
{
    struct small c = {3, 4};
    int s = 0;
    OBJECT(c);
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target firstprivate(c) map(from : s)
    s = c.x + c.y;
#else
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_FIRSTPRIVATE(c));
    LAUNCH(small_copy, map);
#endif
    RESULT(s);
}

/* Private variables are the kernel's own: they have no row. */
SHAPE(private_variable)
{
    int a[4], t = 9;
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target private(t) map(tofrom : a)
    {
        t = 1;
        a[0] += t;
    }
#else
    REX_MAP(map, REX_TOFROM(a, 4));
    LAUNCH(bump, map);
#endif
    RESULT(a);
    RESULT(t);
}

SHAPE(is_device_ptr)
{
    int a[4], s = 0, *d = DEVICE_ALLOC(sizeof a);
    FILL(a);
    OBJECT(s);
    OBJECT_AT("device", d, sizeof a);
#ifdef ORACLE_CLANG
#pragma omp target is_device_ptr(d)
    {
        d[0] = 7;
        d[1] = 8;
    }
#pragma omp target is_device_ptr(d) map(from : s)
    s = d[0] + d[1];
#else
    REX_MAP(fill, REX_IS_DEVICE_PTR(d));
    LAUNCH(store, fill);
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_IS_DEVICE_PTR(d));
    LAUNCH(sum, map);
#endif
    RESULT(s);
    DEVICE_FREE(d);
}

SHAPE(mixed_rows)
{
    int i = 5, a[4], s = 0, b[8], z[2], *p = z;
    double d = 6;
    struct record r = {.n = 7};
    FILL(a);
    FILL(b);
    OBJECT(r);
    OBJECT(s);
    OBJECT(z);
#ifdef ORACLE_CLANG
#pragma omp target map(from : s) firstprivate(i, a) map(to : r) map(tofrom : b[1 : 4])
    {
        s = i + a[1] + (int)d + r.n;
        b[1] = p == NULL ? 1 : 1;
    }
#else
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_VALUE(i), REX_FIRSTPRIVATE(a), REX_IMPLICIT(REX_VALUE(d)), REX_OBJECT(REX_MAP_TO, r),
            REX_SECTION(REX_MAP_TOFROM, b, 1, 4), REX_POINTER(p));
    LAUNCH(mixed, map);
#endif
    RESULT(s);
    RESULT(b);
}
