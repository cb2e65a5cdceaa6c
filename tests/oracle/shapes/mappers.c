/* mappers.c - declare mapper: called by the runtime, and expanded into the map. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shape.h"

#include "types.h"

#ifdef ORACLE_CLANG
#pragma omp declare mapper(struct part p) map(p, p.v[0 : p.n])
#pragma omp declare mapper(count : struct part p) map(p.n)
#pragma omp declare mapper(struct box b) map(b.c, b.part)
#else
REX_KERNEL(part_v);
REX_KERNEL(parts_v);
REX_KERNEL(parts_n);
REX_KERNEL(boxes);

/* Row by row what clang's mapper pushes: a parent that spans the struct, the struct, what it points to. */
static int map_part(struct rex_map_builder *builder, void *element)
{
    struct part *p = element;
    int32_t parent = rex_map_next_row(builder);
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_ALLOC, *p));
    if (result == REX_OK)
        result = rex_map_add(builder, rex_row_member(REX_OBJECT(REX_MAP_TOFROM, *p), parent));
    if (result == REX_OK)
        result = rex_map_add(builder, REX_MEMBER_POINTER(parent, REX_MAP_TOFROM, *p, v, 0, p->n));
    return result;
}

/* The short form: librex makes the section's row the parent. */
static int map_part_briefly(struct rex_map_builder *builder, void *element)
{
    struct part *p = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *p));
    return result == REX_OK ? rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, p->v, 0, p->n)) : result;
}

static int map_count(struct rex_map_builder *builder, void *element)
{
    struct part *p = element;
    return rex_map_add(builder, rex_row_of(p, &p->n, sizeof p->n, REX_MAP_TOFROM));
}

/* A mapper in a mapper: for a single struct, its function is called as it is. */
static int map_box(struct rex_map_builder *builder, void *element)
{
    struct box *b = element;
    int32_t parent = rex_map_next_row(builder);
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_ALLOC, *b));
    if (result == REX_OK)
        result = rex_map_add(builder, REX_MEMBER(parent, REX_MAP_TOFROM, *b, c));
    return result == REX_OK ? map_part(builder, &b->part) : result;
}

REX_RUNTIME_MAPPER(runtime_part, map_part, struct part)
REX_RUNTIME_MAPPER(runtime_part_briefly, map_part_briefly, struct part)
REX_RUNTIME_MAPPER(runtime_count, map_count, struct part)
REX_RUNTIME_MAPPER(runtime_box, map_box, struct box)

/* Hand a function to the runtime: the mappers column wants an object pointer. */
static void *column_of(void (*mapper)(void *, void *, void *, int64_t, int64_t, void *))
{
    void *address;
    memcpy(&address, &mapper, sizeof address);
    return address;
}

/* WITH_MAPPER(map, function): the first row of MAP goes through the runtime's mapper FUNCTION. */
#define WITH_MAPPER(map, function)                                             \
    void *map##_mappers[8] = {column_of(function)};                            \
    (map).mappers = map##_mappers

/* What an expanded map is built from. */
struct expansion {
    rex_mapper *mapper;
    struct rex_row section;
    int64_t element_size;
};

static int expand(struct rex_map_builder *builder, void *context)
{
    struct expansion *e = context;
    return rex_map_add_mapped(builder, e->mapper, e->section, e->element_size);
}

#define EXPANDED(map, mapper_function, row, type)                              \
    struct expansion map##_rows = {mapper_function, row, sizeof(type)};        \
    struct rex_map map = {0};                                                  \
    CHECK(rex_map_build(&map, NULL, expand, &map##_rows, NULL))
#endif

static int v[4], w[4];
static struct part parts[2], one;
static struct box box[2];

static void prepare(void)
{
    FILL(v);
    FILL(w);
    parts[0] = (struct part){2, v};
    parts[1] = (struct part){2, v + 2};
    one = (struct part){4, w};
    box[0] = (struct box){5, {2, v}};
    box[1] = (struct box){6, {2, v + 2}};
    OBJECT(parts);
    OBJECT(one);
    OBJECT(box);
}

static void prepare_expanded(void)
{
    prepare();
    recorder_expand();
}

static void results(void)
{
    RESULT(v);
    RESULT(w);
    RESULT(parts[0].n);
    RESULT(parts[1].n);
    RESULT(one.n);
    RESULT(box[0].c);
    RESULT(box[1].c);
    int pointers_kept = parts[0].v == v && parts[1].v == v + 2 && one.v == w && box[1].part.v == v + 2;
    RESULT(pointers_kept);
}

/* clang-format off */
#ifdef ORACLE_CLANG
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define ON_TARGET(clauses, body, ...)                                          \
    PRAGMA(omp target clauses)                                                 \
    body
#else
#define ON_TARGET(clauses, body, ...) __VA_ARGS__
#endif
/* MAPPER_SHAPE(name, how to prepare, clauses, body, a launch with librex): one construct over these objects. */
#define MAPPER_SHAPE(name, prepare, clauses, body, ...)                        \
    SHAPE(name)                                                                \
    {                                                                          \
        prepare();                                                             \
        ON_TARGET(clauses, body, __VA_ARGS__)                                  \
        results();                                                             \
    }
#define MAPPED(kernel, row, function)                                          \
    REX_MAP(map, row);                                                         \
    WITH_MAPPER(map, function);                                                \
    LAUNCH(kernel, map);
#define EXPANDED_LAUNCH(kernel, function, row, type)                           \
    EXPANDED(map, function, row, type);                                        \
    LAUNCH(kernel, map);                                                       \
    rex_map_free(&map);
/* What a construct does. */
#define NUMBERS                                                              \
    {                                                                        \
        parts[0].n += 1;                                                     \
        parts[1].n += 2;                                                     \
    }
#define VALUES                                                               \
    {                                                                        \
        parts[0].v[0] += 1;                                                  \
        parts[1].v[1] += 2;                                                  \
    }
#define BOXES                                                                \
    {                                                                        \
        box[0].c += 1;                                                       \
        box[1].part.v[0] += 2;                                               \
    }
/* clang-format on */

MAPPER_SHAPE(mapper_one, prepare, map(tofrom : one), { one.v[1] += 1; },
             MAPPED(part_v, REX_OBJECT(REX_MAP_TOFROM, one), runtime_part_briefly))

SHAPE(mapper_section)
{
    prepare();
    struct part *p = parts;
#ifdef ORACLE_CLANG
#pragma omp target map(to : p[0 : 2])
    {
        p[0].v[0] += 1;
        p[1].v[1] += 2;
    }
#else
    REX_MAP(map, REX_TO(p, 2));
    WITH_MAPPER(map, runtime_part);
    LAUNCH(parts_v, map);
#endif
    results();
}

MAPPER_SHAPE(mapper_named, prepare, map(mapper(count), tofrom : parts), NUMBERS,
             MAPPED(parts_n, REX_OBJECT(REX_MAP_TOFROM, parts), runtime_count))

MAPPER_SHAPE(mapper_nested, prepare, map(tofrom : box), BOXES, MAPPED(boxes, REX_OBJECT(REX_MAP_TOFROM, box), runtime_box))

SHAPE(mapper_data)
{
    prepare();
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : parts)
#pragma omp target map(alloc : parts)
    VALUES
#pragma omp target update from(parts)
#pragma omp target exit data map(from : parts)
#else
    REX_MAP(enter, REX_OBJECT(REX_MAP_TO, parts));
    WITH_MAPPER(enter, runtime_part);
    CHECK(rex_data_enter(-1, &enter));
    REX_MAP(map, REX_OBJECT(REX_MAP_ALLOC, parts));
    WITH_MAPPER(map, runtime_part);
    LAUNCH(parts_v, map);
    REX_MAP(leave, REX_OBJECT(REX_MAP_FROM, parts));
    WITH_MAPPER(leave, runtime_part);
    CHECK(rex_data_update(-1, &leave));
    CHECK(rex_data_exit(-1, &leave));
#endif
    results();
}

MAPPER_SHAPE(expanded_named, prepare_expanded, map(mapper(count), tofrom : parts), NUMBERS,
             EXPANDED_LAUNCH(parts_n, map_count, REX_TOFROM(parts, 2), struct part))

MAPPER_SHAPE(expanded_nested, prepare_expanded, map(tofrom : box), BOXES,
             EXPANDED_LAUNCH(boxes, map_box, REX_OBJECT(REX_MAP_TOFROM, box), struct box))

MAPPER_SHAPE(expanded_always, prepare_expanded, map(always, tofrom : parts), VALUES,
             EXPANDED_LAUNCH(parts_v, map_part, REX_ALWAYS(REX_OBJECT(REX_MAP_TOFROM, parts)), struct part))

SHAPE(expanded_data)
{
    prepare_expanded();
#ifdef ORACLE_CLANG
#pragma omp target enter data map(to : parts)
#pragma omp target map(alloc : parts)
    VALUES
#pragma omp target update from(parts)
#pragma omp target exit data map(from : parts)
#else
    EXPANDED(enter, map_part, REX_OBJECT(REX_MAP_TO, parts), struct part);
    CHECK(rex_data_enter(-1, &enter));
    EXPANDED(map, map_part, REX_OBJECT(REX_MAP_ALLOC, parts), struct part);
    LAUNCH(parts_v, map);
    EXPANDED(leave, map_part, REX_OBJECT(REX_MAP_FROM, parts), struct part);
    CHECK(rex_data_update(-1, &leave));
    CHECK(rex_data_exit(-1, &leave));
    rex_map_free(&leave);
    rex_map_free(&map);
    rex_map_free(&enter);
#endif
    results();
}
