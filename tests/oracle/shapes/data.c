/* data.c - data regions, enter and exit data, updates. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

#include "types.h"

#ifndef ORACLE_CLANG
REX_KERNEL_DECLARE(bump);
REX_KERNEL_DECLARE(record_np);

/* On the SIZE bytes whose device address the region has stored in its first row. */
static void bump_returned(const struct rex_map *region, size_t size)
{
    int *d = rex_map_address(region, 0);
    OBJECT_AT("device", d, size);
    REX_MAP(map, REX_IS_DEVICE_PTR(d));
    LAUNCH(bump, map);
}
#endif

SHAPE(region)
{
    int a[8], b[4], c[4];
    FILL(a);
    FILL(b);
    FILL(c);
#ifdef ORACLE_CLANG
#pragma omp target data map(tofrom : a) map(to : b) map(alloc : c)
    {
#pragma omp target
        a[0] += 1;
    }
#else
    REX_MAP(region, REX_TOFROM(a, 8), REX_TO(b, 4), REX_ALLOC(c, 4));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        REX_MAP(map, REX_IMPLICIT(REX_TOFROM(a, 8)));
        LAUNCH(bump, map);
    }
#endif
    RESULT(a);
}

SHAPE(use_device_ptr_and_map)
{
    int a[8], *p = a;
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target data map(tofrom : p[0 : 8]) use_device_ptr(p)
    {
        OBJECT_AT("device", p, sizeof a);
#pragma omp target is_device_ptr(p)
        p[0] += 1;
    }
#else
    REX_MAP(region, REX_RETURN(REX_TOFROM(p, 8)));
    REX_DATA_REGION_MAP(NULL, -1, region)
        bump_returned(&region, sizeof a);
#endif
    RESULT(a);
}

SHAPE(use_device_ptr_alone)
{
    int a[8], *p = a;
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target data map(tofrom : a)
    {
#pragma omp target data use_device_ptr(p)
        {
            OBJECT_AT("device", p, sizeof a);
#pragma omp target is_device_ptr(p)
            p[0] += 1;
        }
    }
#else
    REX_MAP(region, REX_TOFROM(a, 8));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        REX_MAP(use, REX_USE_DEVICE_PTR(p));
        REX_DATA_REGION_MAP(NULL, -1, use)
            bump_returned(&use, sizeof a);
    }
#endif
    RESULT(a);
}

SHAPE(use_device_addr_alone)
{
    int a[8];
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : a)
#pragma omp target data use_device_addr(a)
    {
        OBJECT_AT("device", a, sizeof a);
#pragma omp target has_device_addr(a)
        a[0] += 1;
    }
#pragma omp target exit data map(always, from : a)
#else
    REX_MAP(enter, REX_TO(a, 8));
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(use, REX_USE_DEVICE_PTR(a));
    REX_DATA_REGION_MAP(NULL, -1, use)
        bump_returned(&use, sizeof a);
    REX_MAP(leave, REX_ALWAYS(REX_FROM(a, 8)));
    CHECK(rex_data_exit(-1, &leave));
#endif
    RESULT(a);
}

SHAPE(exit_delete)
{
    int a[8], b[4];
    FILL(a);
    FILL(b);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(always, to : a) map(close, alloc : b)
#pragma omp target enter data map(to : a, b)
#pragma omp target exit data map(always, from : a)
#pragma omp target exit data map(delete : a, b)
#else
    REX_MAP(enter, REX_ALWAYS(REX_TO(a, 8)), REX_CLOSE(REX_ALLOC(b, 4)));
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(again, REX_TO(a, 8), REX_TO(b, 4));
    CHECK(rex_data_enter(-1, &again));
    REX_MAP(back, REX_ALWAYS(REX_FROM(a, 8)));
    CHECK(rex_data_exit(-1, &back));
    REX_MAP(gone, REX_DELETE(a, 8), REX_DELETE(b, 4));
    CHECK(rex_data_exit(-1, &gone));
#endif
    RESULT(a);
}

SHAPE(exit_present_hold)
{
    int a[8], b[4];
    FILL(a);
    FILL(b);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : a, b)
#pragma omp target data map(ompx_hold, to : a) map(present, alloc : b)
    {
#pragma omp target exit data map(present, delete : a)
#pragma omp target exit data map(present, release : b)
#pragma omp target
        a[0] += 1;
    }
#else
    REX_MAP(enter, REX_TO(a, 8), REX_TO(b, 4));
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(region, REX_HOLD(REX_TO(a, 8)), REX_PRESENT(REX_ALLOC(b, 4)));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        REX_MAP(gone, REX_PRESENT(REX_DELETE(a, 8)));
        CHECK(rex_data_exit(-1, &gone));
        REX_MAP(less, REX_PRESENT(REX_RELEASE(b, 4)));
        CHECK(rex_data_exit(-1, &less));
        REX_MAP(map, REX_IMPLICIT(REX_TOFROM(a, 8)));
        LAUNCH(bump, map);
    }
#endif
    RESULT(a);
}

SHAPE(data_nowait)
{
    int a[8];
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : a) nowait
#pragma omp taskwait
#pragma omp target
    a[0] += 1;
#pragma omp target update from(a) nowait
#pragma omp taskwait
#pragma omp target exit data map(from : a) nowait
#pragma omp taskwait
#else
    REX_MAP(enter, REX_TO(a, 8));
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(map, REX_IMPLICIT(REX_TOFROM(a, 8)));
    LAUNCH(bump, map);
    REX_MAP(leave, REX_FROM(a, 8));
    CHECK(rex_data_update(-1, &leave));
    CHECK(rex_data_exit(-1, &leave));
#endif
    RESULT(a);
}

SHAPE(update_parts)
{
    int a[8], b[4], *p = a;
    FILL(a);
    FILL(b);
#ifdef ORACLE_CLANG
#pragma omp target data map(alloc : a) map(to : b)
    {
        b[1] = 50;
#pragma omp target update to(a[2 : 4]) from(b)
#pragma omp target update to(p[0 : 2])
        a[3] = 60;
#pragma omp target update from(present : a[2 : 4])
    }
#else
    REX_MAP(region, REX_ALLOC(a, 8), REX_TO(b, 4));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        b[1] = 50;
        REX_MAP(both, REX_SECTION(REX_MAP_TO, a, 2, 4), REX_FROM(b, 4));
        CHECK(rex_data_update(-1, &both));
        REX_MAP(first, REX_TO(p, 2));
        CHECK(rex_data_update(-1, &first));
        a[3] = 60;
        REX_MAP(back, REX_PRESENT(REX_SECTION(REX_MAP_FROM, a, 2, 4)));
        CHECK(rex_data_update(-1, &back));
    }
#endif
    RESULT(a);
    RESULT(b);
}

SHAPE(update_members)
{
    int a[4];
    struct record r = {3, 4, a, {0}};
    FILL(a);
    OBJECT(r);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : r.n, r.x)
    r.n = 5;
    r.x = 6;
#pragma omp target update from(r.n) to(r.x)
#pragma omp target exit data map(from : r.n, r.x)
#else
    REX_MAP(enter, REX_STRUCT(r, n, x), REX_MEMBER(0, REX_MAP_TO, r, n), REX_MEMBER(0, REX_MAP_TO, r, x));
    CHECK(rex_data_enter(-1, &enter));
    r.n = 5;
    r.x = 6;
    REX_MAP(update, REX_STRUCT(r, n, x), REX_MEMBER(0, REX_MAP_TO, r, x), REX_MEMBER(0, REX_MAP_FROM, r, n));
    CHECK(rex_data_update(-1, &update));
    REX_MAP(leave, REX_STRUCT(r, n, x), REX_MEMBER(0, REX_MAP_FROM, r, n), REX_MEMBER(0, REX_MAP_FROM, r, x));
    CHECK(rex_data_exit(-1, &leave));
#endif
    RESULT(r.n);
    RESULT(r.x);
}

SHAPE(update_pointee)
{
    int a[4];
    struct record r = {3, 4, a, {0}};
    FILL(a);
    OBJECT(r);
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : r.n, r.p[0 : 3])
#pragma omp target map(r.n, r.p[0 : 3])
    r.p[1] += r.n;
#pragma omp target update from(r.p[0 : 3])
    a[2] = 70;
#pragma omp target update to(r.n, r.p[2 : 1])
#pragma omp target exit data map(release : r.n) map(from : r.p[0 : 3])
#else
    REX_MAP(enter, REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TO, r, n), REX_MEMBER_POINTER(0, REX_MAP_TO, r, p, 0, 3));
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(map, REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TOFROM, r, n), REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 0, 3));
    LAUNCH(record_np, map);
    REX_MAP(update, REX_STRUCT(r, p, p), REX_MEMBER_POINTER(0, REX_MAP_FROM, r, p, 0, 3));
    CHECK(rex_data_update(-1, &update));
    a[2] = 70;
    REX_MAP(to, REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TO, r, n), REX_MEMBER_POINTER(0, REX_MAP_TO, r, p, 2, 1));
    CHECK(rex_data_update(-1, &to));
    REX_MAP(leave, REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_ALLOC, r, n), REX_MEMBER_POINTER(0, REX_MAP_FROM, r, p, 0, 3));
    CHECK(rex_data_exit(-1, &leave));
#endif
    RESULT(a);
}
