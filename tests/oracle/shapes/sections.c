/* sections.c - parts of arrays. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

#ifndef ORACLE_CLANG
REX_KERNEL_DECLARE(bump);
REX_KERNEL(touch);
REX_KERNEL(bump2_in_third);
REX_KERNEL(bump_at);
#endif

SHAPE(section_of_pointer)
{
    int a[8], *p = a;
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : p[1 : 5])
    {
        p[2] += 1;
        p[3] += 2;
    }
#else
    REX_MAP(map, REX_SECTION(REX_MAP_TOFROM, p, 1, 5));
    LAUNCH(bump2_in_third, map);
#endif
    RESULT(a);
}

SHAPE(section_with_variables)
{
    int a[8], lower = 2, length = 4;
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target map(always, tofrom : a[lower : length])
    a[lower] += 1;
#else
    REX_MAP(map, REX_ALWAYS(REX_SECTION(REX_MAP_TOFROM, a, lower, length)), REX_IMPLICIT(REX_VALUE(lower)));
    LAUNCH(bump_at, map);
#endif
    RESULT(a);
}

SHAPE(section_empty)
{
    int a[8], b[4], *p = b, none = 0;
    FILL(a);
    OBJECT(b);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : a) map(to : p[0 : none])
    a[0] += p == NULL ? 1 : 1;
#else
    REX_MAP(map, REX_TOFROM(a, 8), REX_TO(p, none));
    LAUNCH(touch, map);
#endif
    RESULT(a);
}

SHAPE(section_and_pointer)
{
    int a[8], *p = a, b[2];
    FILL(a);
    FILL(b);
    OBJECT(p);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : a[0 : 4]) map(to : p)
    a[0] += 1;
#else
    REX_MAP(map, REX_TOFROM(a, 4), REX_NO_PARAM(REX_OBJECT(REX_MAP_TO, p)));
    LAUNCH(bump, map);
#endif
    RESULT(a);
}

SHAPE(section_of_later_rows)
{
    int m[4][4], at = 4;
    FILL_N(&m[0][0], 16);
    OBJECT(m);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : m[1 : 2][0 : 4])
    (&m[0][0])[at] += 1;
#else
    REX_MAP(map, REX_SECTION(REX_MAP_TOFROM, m, 1, 2), REX_IMPLICIT(REX_VALUE(at)));
    LAUNCH(bump_at, map);
#endif
    RESULT(m);
}

SHAPE(section_in_row)
{
    int m[4][4], at = 5;
    FILL_N(&m[0][0], 16);
    OBJECT(m);
#ifdef ORACLE_CLANG
#pragma omp target map(from : m[1][1 : 2])
    (&m[0][0])[at] += 1;
#else
    REX_MAP(map, rex_row_of(m, &m[1][1], 2 * sizeof m[1][1], REX_MAP_FROM | REX_MAP_TARGET_PARAM), REX_IMPLICIT(REX_VALUE(at)));
    LAUNCH(bump_at, map);
#endif
    RESULT(at);
}

SHAPE(section_of_row_pointer)
{
    int m[4][4], (*v)[4] = m;
    FILL_N(&m[0][0], 16);
    OBJECT(m);
#ifdef ORACLE_CLANG
#pragma omp target map(present, close, to : v[0 : 2]) if (0)
    v[0][0] += 1;
#pragma omp target map(close, to : v[0 : 2])
    v[0][0] += 1;
#else
    m[0][0] += 1;
    REX_MAP(map, REX_CLOSE(REX_TO(v, 2)));
    LAUNCH(bump, map);
#endif
    RESULT(m);
}
