/* structs.c - members, pointers in structs, structs in structs. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

#include "types.h"

#ifndef ORACLE_CLANG
REX_KERNEL(record_n);
REX_KERNEL(record_nx);
REX_KERNEL(record_p);
REX_KERNEL(record_np);
REX_KERNEL(record_a);
REX_KERNEL(records2);
REX_KERNEL(records2_p);
REX_KERNEL(record_value_array);
REX_KERNEL(outer_k);
REX_KERNEL(outer_kh);
REX_KERNEL(outer_q);
REX_KERNEL(outer_ip);
REX_KERNEL(outer_all);
REX_KERNEL(outer_chain);
#endif

/* The objects of all shapes here. */
static int a[8], b[8], i = 16;
static struct record r, t;
static struct inner in;
static struct outer o;

static void prepare(void)
{
    FILL(a);
    FILL(b);
    r = (struct record){3, 4, a, {5, 6, 7, 8}};
    t = (struct record){9, 10, b, {11, 12, 13, 14}};
    in = (struct inner){15, b};
    o = (struct outer){16, {17, a}, &in};
    OBJECT(r);
    OBJECT(t);
    OBJECT(in);
    OBJECT(o);
}

static void results(void)
{
    RESULT(a);
    RESULT(b);
    RESULT(r.n);
    RESULT(r.x);
    RESULT(r.a);
    RESULT(t.n);
    RESULT(t.x);
    RESULT(in.k);
    RESULT(o.h);
    RESULT(o.in.k);
    int pointers_kept = r.p == a && t.p == b && in.q == b && o.in.q == a && o.ip == &in;
    RESULT(pointers_kept);
}

/* STRUCT_SHAPE(name, kernel, clauses, body, rows...): one construct over these objects. */
/* clang-format off */
#ifdef ORACLE_CLANG
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define STRUCT_SHAPE(name, kernel, clauses, body, ...)                         \
    SHAPE(name)                                                                \
    {                                                                          \
        prepare();                                                             \
        PRAGMA(omp target clauses)                                             \
        body                                                                   \
        results();                                                             \
    }
#else
#define STRUCT_SHAPE(name, kernel, clauses, body, ...)                         \
    SHAPE(name)                                                                \
    {                                                                          \
        prepare();                                                             \
        REX_MAP(map, __VA_ARGS__);                                             \
        LAUNCH(kernel, map);                                                   \
        results();                                                             \
    }
#endif
/* clang-format on */

STRUCT_SHAPE(struct_whole, record_nx, map(tofrom : r), { r.n += 1; r.x += 2; }, REX_OBJECT(REX_MAP_TOFROM, r))

STRUCT_SHAPE(struct_one_member, record_n, map(tofrom : r.n), { r.n += 1; },
             rex_row_of(&r, &r.n, sizeof r.n, REX_MAP_TOFROM | REX_MAP_TARGET_PARAM))

STRUCT_SHAPE(struct_members_to_from, record_nx, map(to : r.n) map(from : r.x), { r.n += 1; r.x = 2; },
             REX_STRUCT(r, n, x), REX_MEMBER(0, REX_MAP_TO, r, n), REX_MEMBER(0, REX_MAP_FROM, r, x))

STRUCT_SHAPE(struct_members_modified, record_nx, map(always, to : r.n) map(close, tofrom : r.x), { r.n += 1; r.x += 2; },
             REX_STRUCT(r, n, x), REX_ALWAYS(REX_MEMBER(0, REX_MAP_TO, r, n)),
             REX_CLOSE(REX_MEMBER(0, REX_MAP_TOFROM, r, x)))

STRUCT_SHAPE(struct_members_hold, record_nx, map(ompx_hold, tofrom : r.n, r.x), { r.n += 1; r.x += 2; },
             REX_HOLD(REX_STRUCT(r, n, x)), REX_HOLD(REX_MEMBER(0, REX_MAP_TOFROM, r, n)),
             REX_HOLD(REX_MEMBER(0, REX_MAP_TOFROM, r, x)))

STRUCT_SHAPE(struct_array_member, record_a, map(tofrom : r.a), { r.a[1] += 3; },
             rex_row_of(&r, &r.a, sizeof r.a, REX_MAP_TOFROM | REX_MAP_TARGET_PARAM))

STRUCT_SHAPE(struct_member_section, record_a, map(tofrom : r.a[1 : 2]), { r.a[1] += 3; },
             rex_row_of(&r, &r.a[1], 2 * sizeof r.a[1], REX_MAP_TARGET_PARAM),
             rex_row_member(rex_row_of(&r, &r.a[1], 2 * sizeof r.a[1], REX_MAP_TOFROM), 0))

STRUCT_SHAPE(struct_pointee, record_p, map(tofrom : r.p[0 : 4]), { r.p[1] += 1; },
             REX_STRUCT(r, p, p), REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 0, 4))

STRUCT_SHAPE(struct_pointee_part, record_p, map(always, tofrom : r.p[1 : 3]), { r.p[1] += 1; },
             REX_STRUCT(r, p, p), REX_ALWAYS(REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 1, 3)))

STRUCT_SHAPE(struct_member_and_pointee, record_np, map(to : r.n) map(tofrom : r.p[0 : 4]), { r.p[1] += r.n; },
             REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TO, r, n), REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 0, 4))

STRUCT_SHAPE(struct_and_pointee, record_np, map(to : r) map(tofrom : r.p[1 : 4]), { r.p[1] += r.n; },
             rex_row_of(&r, &r, sizeof r, REX_MAP_TARGET_PARAM), rex_row_member(REX_OBJECT(REX_MAP_TO, r), 0),
             REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 1, 4))

STRUCT_SHAPE(struct_alloc_pointer, record_n, map(tofrom : r.n) map(alloc : r.p), { r.n += 1; },
             REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TOFROM, r, n), REX_MEMBER(0, REX_MAP_ALLOC, r, p))

STRUCT_SHAPE(two_structs, records2, map(tofrom : r.n) map(tofrom : t.n, t.x), { r.n += 1; t.n += 2; t.x += 3; },
             rex_row_of(&r, &r.n, sizeof r.n, REX_MAP_TOFROM | REX_MAP_TARGET_PARAM), REX_STRUCT(t, n, x),
             REX_MEMBER(1, REX_MAP_TOFROM, t, n), REX_MEMBER(1, REX_MAP_TOFROM, t, x))

STRUCT_SHAPE(two_parents, records2_p, map(tofrom : r.n, r.p[0 : 4]) map(tofrom : t.n) map(to : t.p[0 : 2]),
             { r.p[0] += t.p[1]; r.n += 1; t.n += 1; },
             REX_STRUCT(r, n, p), REX_MEMBER(0, REX_MAP_TOFROM, r, n), REX_MEMBER_POINTER(0, REX_MAP_TOFROM, r, p, 0, 4),
             REX_STRUCT(t, n, p), REX_MEMBER(3, REX_MAP_TOFROM, t, n), REX_MEMBER_POINTER(3, REX_MAP_TO, t, p, 0, 2))

STRUCT_SHAPE(struct_value_and_array, record_value_array, map(tofrom : r.n, r.x) map(tofrom : a[0 : 2]) firstprivate(i),
             { r.n += i; r.x += 1; a[0] += r.n; },
             REX_STRUCT(r, n, x), REX_MEMBER(0, REX_MAP_TOFROM, r, n), REX_MEMBER(0, REX_MAP_TOFROM, r, x),
             REX_VALUE(i), REX_TOFROM(a, 2))

STRUCT_SHAPE(nested_member, outer_k, map(tofrom : o.in.k), { o.in.k += 1; },
             rex_row_of(&o, &o.in.k, sizeof o.in.k, REX_MAP_TOFROM | REX_MAP_TARGET_PARAM))

STRUCT_SHAPE(nested_members, outer_kh, map(tofrom : o.in.k, o.h), { o.in.k += 1; o.h += 2; },
             REX_STRUCT(o, h, in.k), REX_MEMBER(0, REX_MAP_TOFROM, o, in.k), REX_MEMBER(0, REX_MAP_TOFROM, o, h))

STRUCT_SHAPE(nested_struct, outer_k, map(tofrom : o.in) map(to : o.h), { o.in.k += 1; },
             REX_STRUCT(o, h, in), REX_MEMBER(0, REX_MAP_TOFROM, o, in), REX_MEMBER(0, REX_MAP_TO, o, h))

STRUCT_SHAPE(nested_pointee, outer_q, map(tofrom : o.in.q[0 : 2]), { o.in.q[1] += 1; },
             REX_STRUCT(o, in.q, in.q), REX_MEMBER(0, REX_MAP_TOFROM, o, in.q),
             REX_MEMBER_POINTER(0, REX_MAP_TOFROM, o, in.q, 0, 2))

STRUCT_SHAPE(member_of_pointee, outer_ip, map(tofrom : o.ip->k), { o.ip->k += 1; },
             REX_STRUCT(o, ip, ip),
             rex_row_member(rex_row_of(&o.ip, &o.ip->k, sizeof o.ip->k, REX_MAP_TOFROM | REX_MAP_PTR_AND_OBJ), 0))

STRUCT_SHAPE(nested_mixed, outer_all, map(tofrom : o.h, o.in.q[0 : 2], o.ip->k), { o.h += o.in.q[0]; o.ip->k += 1; },
             REX_STRUCT(o, h, ip), REX_MEMBER(0, REX_MAP_TOFROM, o, h), REX_MEMBER(0, REX_MAP_TOFROM, o, in.q),
             REX_MEMBER_POINTER(0, REX_MAP_TOFROM, o, in.q, 0, 2),
             rex_row_member(rex_row_of(&o.ip, &o.ip->k, sizeof o.ip->k, REX_MAP_TOFROM | REX_MAP_PTR_AND_OBJ), 0))

STRUCT_SHAPE(pointee_of_pointee, outer_chain, map(tofrom : o.ip[0 : 1], o.ip->q[0 : 3]), { o.ip->k += 1; o.ip->q[2] += 1; },
             REX_STRUCT(o, ip, ip), REX_MEMBER_POINTER(0, REX_MAP_TOFROM, o, ip, 0, 1),
             rex_row_member(rex_row_of(&o.ip, &o.ip->q, sizeof o.ip->q, REX_MAP_PTR_AND_OBJ), 0),
             REX_NO_PARAM(REX_ATTACH(REX_MAP_TOFROM, o.ip->q, 0, 3)))

SHAPE(struct_through_pointer)
{
    prepare();
    struct record *q = &r;
#ifdef ORACLE_CLANG
#pragma omp target map(tofrom : q->n, q->x)
    {
        q->n += 1;
        q->x += 2;
    }
#else
    REX_MAP(map, REX_STRUCT(*q, n, x), REX_MEMBER(0, REX_MAP_TOFROM, *q, n), REX_MEMBER(0, REX_MAP_TOFROM, *q, x));
    LAUNCH(record_nx, map);
#endif
    results();
}

SHAPE(section_and_pointee)
{
    prepare();
    struct record *q = &r;
#ifdef ORACLE_CLANG
#pragma omp target map(to : q[0 : 1]) map(tofrom : q->p[0 : 3])
    q->p[1] += q->n;
#else
    REX_MAP(map, REX_SECTION(REX_MAP_ALLOC, q, 0, 1), rex_row_member(REX_TO(q, 1), 0),
            REX_MEMBER_POINTER(0, REX_MAP_TOFROM, *q, p, 0, 3));
    LAUNCH(record_np, map);
#endif
    results();
}
