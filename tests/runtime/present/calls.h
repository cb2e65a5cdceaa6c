/*
 * calls.h - what the tests of memory and launches do with one array: map it, end it, update it,
 * launch on it, in every way.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_PRESENT_CALLS_H
#define REX_TESTS_PRESENT_CALLS_H

#include <sched.h>

#include "runtime/checks.h"

REX_KERNEL(nothing);
REX_KERNEL(add);
REX_KERNEL(add_many);
REX_KERNEL(add_all);
REX_KERNEL(stay);
REX_KERNEL(hold);

/* y is one of many arrays that lie side by side. */
enum { CELLS = 64, MANY = 21, AMONG = 17, SECONDS = 100 };
static int64_t many[MANY][CELLS], *const y = many[AMONG], *pointer_to_y = many[AMONG], x[CELLS];

static int launch(const void *key, uint32_t flags, const struct rex_map *map)
{
    return rex_launch(&(struct rex_launch_config){key, -1, NULL, {1, 1, 1}, {1, 1, 1}, 0, 0, flags, {0}, {0}},
                      map);
}

/* Adds 1 at AT to what the row passes; more rows may follow it. */
#define ADD(flags, at, ...)                                                          \
    __extension__({                                                                  \
        REX_MAP(map_, REX_VALUE(INT64_C(1)), REX_VALUE((int64_t)(at)), __VA_ARGS__); \
        launch(REX_KERNEL_ID(add), (flags), &map_);                                  \
    })

/* ---- launches on y --------------------------------------------------------------------------- */

static int launches(void)
{
    return ADD(0, 0, REX_TOFROM(y, CELLS));
}

static int launches_nowait(void)
{
    return ADD(REX_LAUNCH_NOWAIT, 0, REX_TOFROM(y, CELLS));
}

/* Only libomptarget maps such a row. */
static int launches_attached(void)
{
    return ADD(0, 0, REX_ATTACH(REX_MAP_TOFROM, pointer_to_y, 0, CELLS));
}

/* With the last byte of y alone. */
static int launches_on_a_byte(void)
{
    char *last = (char *)(y + CELLS) - 1;
    return ADD(0, 0, REX_TOFROM(x, CELLS), REX_NO_PARAM(REX_TOFROM(last, 1)));
}

/* Plain packets of version 2, which are not for each release. */
static bool takes_raw(void)
{
    return !calls_with_array() && !(gpu_present() && release_of_test() == 18);
}

static void add_others(struct rows *rows)
{
    for (int i = 0; i < MANY; i++)
        if (i != AMONG)
            add_row(rows, many[i], sizeof x, TOFROM);
}

static int send_raw(bool with_others)
{
    int64_t one = 1, first = 0;
    struct rows rows = {.count = 0};
    add_literal(&rows, &one, sizeof one);
    add_literal(&rows, &first, sizeof first);
    add_row(&rows, y, sizeof x, PARAMETER | TOFROM);
    if (with_others)
        add_others(&rows);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    packet.Version = 2;
    return __rex_real___tgt_target_kernel(NULL, -1, 1, 1, REX_KERNEL_ID(add), &packet);
}

static int launches_raw(void)
{
    return send_raw(false);
}

static int launches_all_raw(void)
{
    return send_raw(true);
}

/* ---- data calls on y ------------------------------------------------------------------------- */

static int data(int (*call)(int64_t, const struct rex_map *), int64_t *cells, int64_t type)
{
    REX_MAP(map, rex_row_object(cells, sizeof x, type));
    return call(-1, &map);
}

static void raw(void (*call)(int64_t, int32_t, void **, void **, int64_t *, int64_t *), size_t size,
                int64_t type)
{
    REX_MAP(map, rex_row_object(y, size, type));
    call(-1, REX_MAP_ARGUMENTS(map));
}

static int begins(void)
{
    return data(rex_data_enter, y, TOFROM);
}

static int begins_raw(void)
{
    raw(__rex_real___tgt_target_data_begin, sizeof x, TOFROM);
    return 0;
}

static int begins_twice(void)
{
    int result = begins();
    return result == 0 ? begins() : result;
}

static int ends(void)
{
    return data(rex_data_exit, y, TOFROM);
}

static int ends_by_a_part(void)
{
    REX_MAP(map, rex_row_object(many[0], sizeof x, TOFROM),
            rex_row_object(y + CELLS / 2, 8, TOFROM));
    return rex_data_exit(-1, &map);
}

static int ends_raw(void)
{
    raw(__rex_real___tgt_target_data_end, sizeof x, TOFROM);
    return 0;
}

/* What has no length ends no copy with it. */
static int ends_without_length(void)
{
    raw(__rex_real___tgt_target_data_end, 0, REX_MAP_ALLOC);
    return 0;
}

void __tgt_target_data_end_nowait(int64_t, int32_t, void **, void **, int64_t *, int64_t *, int32_t,
                                  void *, int32_t, void *);

static int ends_nowait(void)
{
    REX_MAP(map, rex_row_object(y, sizeof x, TOFROM));
    __tgt_target_data_end_nowait(-1, REX_MAP_ARGUMENTS(map), 0, NULL, 0, NULL);
    return 0;
}

static int ends_region(void)
{
    REX_MAP(map, rex_row_object(y, sizeof x, TOFROM));
    return rex_module_region_end(&rex_this_module, -1, &map);
}

static int updates(void)
{
    return data(rex_data_update, y, FROM);
}

static int updates_raw(void)
{
    raw(__rex_real___tgt_target_data_update, sizeof x, FROM);
    return 0;
}

/* All arrays but y. */
static int others(int (*call)(int64_t, const struct rex_map *))
{
    struct rows rows = {.count = 0};
    add_others(&rows);
    struct rex_map map = {rows.count, rows.value, rows.value, rows.size, rows.type, NULL, NULL};
    return call(-1, &map);
}

static int begins_all(void)
{
    int result = others(rex_data_enter);
    return result == 0 ? begins() : result;
}

static int ends_others(void)
{
    return others(rex_data_exit);
}

/* ---- by a mapper, on x ----------------------------------------------------------------------- */

struct holder {
    int64_t *cells;
};
static struct holder holder = {x};

static int map_holder(struct rex_map_builder *builder, void *element)
{
    struct holder *its = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *its));
    return result == 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, its->cells, 0, CELLS))
                       : result;
}
REX_RUNTIME_MAPPER(mapper_of_holder, map_holder, struct holder)

static void *mapper(void)
{
    void (*function)(void *, void *, void *, int64_t, int64_t, void *) = mapper_of_holder;
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static int data_by_mapper(int (*call)(int64_t, const struct rex_map *))
{
    void *mappers[] = {mapper()};
    REX_MAP(map, REX_TOFROM(&holder, 1));
    map.mappers = mappers;
    return call(-1, &map);
}

static int begins_by_mapper(void)
{
    return data_by_mapper(rex_data_enter);
}

static int begins_both(void)
{
    int result = begins_by_mapper();
    return result == 0 ? begins() : result;
}

static int ends_by_mapper(void)
{
    return data_by_mapper(rex_data_exit);
}

static int launches_by_mapper(void)
{
    void *mappers[] = {NULL, mapper()};
    REX_MAP(map, REX_VALUE(UINT64_C(1)), REX_NO_PARAM(REX_TOFROM(&holder, 1)));
    map.mappers = mappers;
    return launch(REX_KERNEL_ID(nothing), 0, &map);
}

#endif
