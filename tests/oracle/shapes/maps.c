/* maps.c - map types and modifiers on target. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

#ifndef ORACLE_CLANG
REX_KERNEL(bump);
REX_KERNEL(bump3);
REX_KERNEL(sum_scratch);
#endif

SHAPE(map_alloc)
{
    int scratch[4] = {0}, a[8], s = 0;
    FILL(a);
    OBJECT(scratch);
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target map(alloc : scratch) map(to : a) map(tofrom : s)
    {
        scratch[0] = a[0] + a[1];
        s = scratch[0];
    }
#else
    REX_MAP(map, REX_ALLOC(scratch, 4), REX_TO(a, 8), REX_OBJECT(REX_MAP_TOFROM, s));
    LAUNCH(sum_scratch, map);
#endif
    RESULT(s);
}

/* Clang knows no variable in the body: the row is mapped and is no parameter. */
SHAPE(map_unused)
{
    int a[8], b[4];
    FILL(a);
    FILL(b);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : a) map(to : b)
    a[0] += 1;
#else
    REX_MAP(map, REX_TOFROM(a, 8), REX_NO_PARAM(REX_TO(b, 4)));
    LAUNCH(bump, map);
#endif
    RESULT(a);
}

/* MODIFIED(name, clause, row): a modifier on memory that is mapped already, with other values on the host by then. */
#ifdef ORACLE_CLANG
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define MODIFIED_LAUNCH(clause, row) PRAGMA(omp target clause) a[0] += 1
#define ENTER_A _Pragma("omp target enter data map(to : a)")
#define EXIT_A _Pragma("omp target exit data map(from : a)")
#else
#define MODIFIED_LAUNCH(clause, row)                                           \
    do {                                                                       \
        REX_MAP(map, row);                                                     \
        LAUNCH(bump, map);                                                     \
    } while (0)
#define ENTER_A                                                                \
    {                                                                          \
        REX_MAP(enter, REX_TO(a, 8));                                     \
        CHECK(rex_data_enter(-1, &enter));                                     \
    }
#define EXIT_A                                                                 \
    {                                                                          \
        REX_MAP(leave, REX_FROM(a, 8));                                   \
        CHECK(rex_data_exit(-1, &leave));                                      \
    }
#endif
/* clang-format off */
#define MODIFIED(name, clause, row)                                            \
    SHAPE(name)                                                                \
    {                                                                          \
        int a[8], seen[8];                                                     \
        FILL(a);                                                               \
        ENTER_A                                                                \
        a[0] = 100;                                                            \
        MODIFIED_LAUNCH(clause, row);                                          \
        memcpy(seen, a, sizeof seen);                                          \
        EXIT_A                                                                 \
        RESULT(seen);                                                          \
        RESULT(a);                                                             \
    }
/* clang-format on */

MODIFIED(always_to, map(always, to : a), REX_ALWAYS(REX_TO(a, 8)))
MODIFIED(always_from, map(always, from : a), REX_ALWAYS(REX_FROM(a, 8)))
MODIFIED(always_tofrom, map(always, tofrom : a), REX_ALWAYS(REX_TOFROM(a, 8)))
MODIFIED(always_alloc, map(always, alloc : a), REX_ALWAYS(REX_ALLOC(a, 8)))
MODIFIED(close_to, map(close, to : a), REX_CLOSE(REX_TO(a, 8)))
MODIFIED(close_tofrom, map(close, tofrom : a), REX_CLOSE(REX_TOFROM(a, 8)))
MODIFIED(present_to, map(present, to : a), REX_PRESENT(REX_TO(a, 8)))
MODIFIED(present_alloc, map(present, alloc : a), REX_PRESENT(REX_ALLOC(a, 8)))
MODIFIED(present_tofrom, map(present, tofrom : a), REX_PRESENT(REX_TOFROM(a, 8)))
MODIFIED(hold_tofrom, map(ompx_hold, tofrom : a), REX_HOLD(REX_TOFROM(a, 8)))
MODIFIED(hold_alloc, map(ompx_hold, alloc : a), REX_HOLD(REX_ALLOC(a, 8)))
MODIFIED(always_close_tofrom, map(always, close, tofrom : a), REX_ALWAYS(REX_CLOSE(REX_TOFROM(a, 8))))
MODIFIED(always_present_from, map(always, present, from : a), REX_ALWAYS(REX_PRESENT(REX_FROM(a, 8))))
MODIFIED(everything_tofrom, map(always, close, present, ompx_hold, tofrom : a),
         REX_ALWAYS(REX_CLOSE(REX_PRESENT(REX_HOLD(REX_TOFROM(a, 8))))))

/* Parameters come in the order in which the body names the variables. */
SHAPE(order_of_use)
{
    int a[4], b[8], c[2];
    FILL(a);
    FILL(b);
    FILL(c);
#ifdef ORACLE_CLANG
#pragma omp target map(always, to : b) map(tofrom : a) map(from : c)
    {
        c[0] = 5;
        c[0] += 1;
        a[0] += 2;
        b[0] += 3;
    }
#else
    REX_MAP(map, REX_FROM(c, 2), REX_TOFROM(a, 4), REX_ALWAYS(REX_TO(b, 8)));
    LAUNCH(bump3, map);
#endif
    RESULT(a);
    RESULT(b);
}

SHAPE(nowait_kernel)
{
    int a[8];
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : a) nowait
    a[0] += 1;
#pragma omp taskwait
#else
    REX_MAP(map, REX_TOFROM(a, 8));
    LAUNCH_WITH(bump, map, REX_LAUNCH_NOWAIT);
#endif
    RESULT(a);
}
