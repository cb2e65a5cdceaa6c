/* globals.c - declare target. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

extern int shared_array[4], linked_value;
extern int *linked_value_decl_tgt_ref_ptr; /* the name that clang gives it, too */

int shared_array[4];
int linked_value;

#ifdef ORACLE_CLANG
#pragma omp declare target to(shared_array)
#pragma omp declare target link(linked_value)
#else
REX_GLOBAL(shared_array);
REX_GLOBAL_LINK(int, linked_value);
REX_KERNEL(global_sum);
REX_KERNEL(linked_bump);
REX_KERNEL(linked_add);
#endif

static void prepare(void)
{
    FILL(shared_array);
    linked_value = 10;
    OBJECT(linked_value);
    OBJECT(linked_value_decl_tgt_ref_ptr);
}

SHAPE(global_updates)
{
    int s = 0;
    prepare();
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target update to(shared_array)
#pragma omp target map(from : s)
    {
        s = shared_array[0] + shared_array[1];
        shared_array[2] = 9;
    }
#pragma omp target update from(shared_array[1 : 2])
#else
    REX_MAP(to, REX_OBJECT(REX_MAP_TO, shared_array));
    CHECK(rex_data_update(-1, &to));
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s));
    LAUNCH(global_sum, map);
    REX_MAP(from, REX_SECTION(REX_MAP_FROM, shared_array, 1, 2));
    CHECK(rex_data_update(-1, &from));
#endif
    RESULT(s);
    RESULT(shared_array);
}

SHAPE(global_always)
{
    int s = 0;
    prepare();
    OBJECT(s);
#ifdef ORACLE_CLANG
#pragma omp target map(from : s) map(always, tofrom : shared_array)
    {
        s = shared_array[0] + shared_array[1];
        shared_array[2] = 9;
    }
#else
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, s), REX_NO_PARAM(REX_ALWAYS(REX_OBJECT(REX_MAP_TOFROM, shared_array))));
    LAUNCH(global_sum, map);
#endif
    RESULT(s);
    RESULT(shared_array);
}

SHAPE(global_link)
{
    prepare();
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : linked_value)
    linked_value += 1;
#else
    REX_MAP(map, REX_LINK(REX_MAP_TOFROM, linked_value));
    LAUNCH(linked_bump, map);
#endif
    RESULT(linked_value);
}

SHAPE(global_link_captured)
{
    int a[4];
    prepare();
    FILL(a);
#ifdef ORACLE_CLANG
#pragma omp target map(to : a)
    linked_value += a[0];
#else
    REX_MAP(map, REX_TO(a, 4), REX_IMPLICIT(REX_LINK(REX_MAP_TOFROM, linked_value)));
    LAUNCH(linked_add, map);
#endif
    RESULT(linked_value);
}

SHAPE(global_link_data)
{
    prepare();
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : linked_value)
    linked_value = 20;
#pragma omp target update to(linked_value)
#pragma omp target exit data map(from : linked_value)
#else
    REX_MAP(enter, REX_LINK(REX_MAP_TO, linked_value));
    CHECK(rex_data_enter(-1, &enter));
    linked_value = 20;
    REX_MAP(to, REX_LINK(REX_MAP_TO, linked_value));
    CHECK(rex_data_update(-1, &to));
    REX_MAP(leave, REX_LINK(REX_MAP_FROM, linked_value));
    CHECK(rex_data_exit(-1, &leave));
#endif
    RESULT(linked_value);
}
