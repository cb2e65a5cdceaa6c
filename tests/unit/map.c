/*
 * map.c - maps that are built at run time, where tests/runtime does not look: what is refused, with which words, and where the limits are.
 * tests/golden/messages/map.txt has what comes out. No runtime is needed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/common.h"

#include <rex.h>

#include "memory/section.h"
#include "support/messages.h"

MESSAGES("map");

#define AT(number) ((void *)(uintptr_t)(number))

/* Says how many rows it makes, and what the last one is, with the number of its parent, from 1; or why it is refused, which leaves the map alone. */
static void builds(const char *what, const struct rex_map *prefix, rex_rows *rows, void *context, const struct rex_map *suffix)
{
    struct rex_map map, before;
    memset(&map, 0x5a, sizeof map);
    memcpy(&before, &map, sizeof before);
    int result = rex_map_build(&map, prefix, rows, context, suffix);
    if (result != REX_OK) {
        assert_memory_equal(&map, &before, sizeof map);
        refuses(result, "%s", what);
        return;
    }
    char last_row[128] = "", place[32] = "";
    if (map.count > 0) {
        int32_t last = map.count - 1;
        const uint64_t type = (uint64_t)map.types[last];
        const ptrdiff_t behind = (char *)map.begin[last] - (char *)map.base[last];
        snprintf(last_row, sizeof last_row, ", the last of type %#x in row %llu, %lld bytes", (unsigned)type, (unsigned long long)(type >> 48),
                 (long long)map.sizes[last]);
        if (behind > 0 && behind < 4096) /* else it is another object's */
            snprintf(place, sizeof place, ", %td behind its base", behind);
    }
    says("%s: %d rows%s%s", what, map.count, last_row, place);
    rex_map_free(&map);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

static int push_one(struct rex_map_builder *builder, void *context)
{
    return rex_map_add(builder, *(struct rex_row *)context);
}

static int push_many(struct rex_map_builder *builder, void *context)
{
    int result = REX_OK;
    for (int64_t i = 0; i < *(int64_t *)context && result == REX_OK; i++)
        result = rex_map_add(builder, rex_row_of(AT(8), AT(8), 8, REX_MAP_TO));
    return result;
}

static int push_past_the_end(struct rex_map_builder *builder, void *context)
{
    builder->row = INT32_MAX;
    return push_one(builder, context);
}

/* Each time by so many rows more. */
static int push_more(struct rex_map_builder *builder, void *context)
{
    int64_t *rows = context;
    rows[0] += rows[1];
    return push_many(builder, rows);
}

TEST(rows)
{
    int64_t growing[] = {0, 1}, shrinking[] = {3, -1};
    int64_t most = REX_PARENT_MAX, too_many = most + 1, large = 3 * most;
    struct rex_row negative = rex_row_of(AT(8), AT(8), -8, REX_MAP_TO), later = rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF(5));
    struct rex_row plain = rex_row_of(AT(8), AT(8), 8, REX_MAP_TO), ones = rex_row_with(plain, REX_MAP_MEMBER_OF_MASK);
    REX_MAP(one, REX_VALUE(1));
    REX_MAP(loose, rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF(0)));
    REX_MAP(member, REX_VALUE(1), rex_row_member(rex_row_of(AT(8), AT(8), 8, REX_MAP_TO), 0));
    REX_MAP(all_ones, ones);
    builds("nothing", NULL, NULL, NULL, NULL);
    builds("a negative size", &one, push_one, &negative, NULL);
    builds("a member of a later row", &one, push_one, &later, NULL);
    builds("a member of itself before", &loose, NULL, NULL, NULL);
    builds("a member of itself behind", &one, NULL, NULL, &loose);
    builds("no number for a row", NULL, push_past_the_end, &plain, NULL);
    builds("all ones are no parent before, either", NULL, push_past_the_end, &ones, NULL);
    builds("the last parent", NULL, push_many, &most, &member);
    builds("one too many", NULL, push_many, &too_many, &member);
    builds("all ones are no parent", NULL, push_many, &large, &all_ones);
    builds("many rows", NULL, push_many, &large, &one);
    builds("more than were counted", NULL, push_more, growing, NULL);
    builds("fewer than were counted", NULL, push_more, shrinking, NULL);
    static const int32_t parents[] = {-1, REX_PARENT_MAX + 1, 65535, 65536};
    for (size_t i = 0; i < COUNT(parents); i++) {
        struct rex_row row = rex_row_member(rex_row_of(AT(8), AT(8), 8, REX_MAP_TO), parents[i]);
        builds("a parent without a number", &one, push_one, &row, NULL);
    }
    assert_int_equal(rex_map_build(NULL, &one, NULL, NULL, NULL), REX_EINVAL);
    rex_map_free(NULL);
    rex_map_free(&one);
    assert_int_equal(one.count, 1);
}

/* An object and two of its members, wherever the rows begin. */
static int push_object(struct rex_map_builder *builder, void *unused)
{
    int32_t parent = rex_map_next_row(builder);
    int result = rex_map_add(builder, rex_row_of(AT(100), AT(100), 64, REX_MAP_TARGET_PARAM));
    for (int i = 0; i < 2 && result == REX_OK; i++)
        result = rex_map_add(builder, rex_row_member(rex_row_of(AT(100), AT(100 + 8 * i), 8, REX_MAP_TO), parent));
    (void)unused;
    return result;
}

/* Members move along with their parents, once and again: a built map is a map like any other. */
TEST(members_move)
{
    static const uintptr_t begin[] = {7, 8, 16, 100, 100, 108, 200, 300};
    static const uint64_t types[] = {0x900000120, 0x1, 0x2000000000001, 0x20, 0x4000000000001, 0x4000000000001, 0, 0x7000000000010};
    struct rex_map map, again;
    REX_MAP(prefix, REX_VALUE(7), rex_row_of(AT(8), AT(8), 16, REX_MAP_TO), rex_row_member(rex_row_of(AT(8), AT(16), 8, REX_MAP_TO), 1));
    REX_MAP(suffix, rex_row_of(AT(200), AT(200), 32, 0), rex_row_member(rex_row_of(AT(208), AT(300), 8, REX_MAP_PTR_AND_OBJ), 0));
    assert_int_equal(rex_map_build(&map, &prefix, push_object, NULL, &suffix), 0);
    assert_int_equal(rex_map_build(&again, &map, NULL, NULL, &map), 0);
    assert_int_equal(map.count, COUNT(begin));
    assert_int_equal(again.count, 2 * COUNT(begin));
    for (size_t i = 0; i < COUNT(begin); i++) {
        const uint64_t moved = types[i] >> 48 > 0 ? COUNT(begin) << 48 : 0;
        assert_int_equal((uintptr_t)map.begin[i], begin[i]);
        assert_int_equal((uint64_t)map.types[i], types[i]);
        assert_int_equal((uintptr_t)again.begin[COUNT(begin) + i], begin[i]);
        assert_int_equal((uint64_t)again.types[COUNT(begin) + i], types[i] + moved);
    }
    rex_map_free(&again);
    rex_map_free(&map);
}

TEST(fixed_parts)
{
    REX_MAP(good, REX_VALUE(1));
    for (int i = 0; i < 5; i++) {
        struct rex_map bad = good;
        *(i == 0 ? &bad.base : i == 1 ? &bad.begin : &bad.mappers) = NULL;
        bad.sizes = i == 2 ? NULL : bad.sizes;
        bad.types = i == 3 ? NULL : bad.types;
        bad.count = i == 4 ? -1 : 1;
        builds("before", &bad, NULL, NULL, &good);
        builds("behind", &good, NULL, NULL, &bad);
    }
}

/* Mappers of the runtime's kind go along with their rows. */
TEST(fixed_parts_with_mappers)
{
    struct rex_map map;
    void *of_prefix[] = {NULL, AT(1)}, *of_suffix[] = {AT(2)};
    REX_MAP(prefix, REX_VALUE(1), rex_row_of(AT(8), AT(8), 16, REX_MAP_TO));
    REX_MAP(suffix, rex_row_of(AT(8), AT(8), 16, REX_MAP_TO));
    for (int i = 0; i < 4; i++) {
        prefix.mappers = i & 1 ? of_prefix : NULL;
        suffix.mappers = i & 2 ? of_suffix : NULL;
        assert_int_equal(rex_map_build(&map, &prefix, NULL, NULL, &suffix), 0);
        assert_true((map.mappers != NULL) == (i > 0));
        for (int row = 0; i > 0 && row < 3; row++)
            assert_ptr_equal(map.mappers[row], row == 1 && (i & 1) ? AT(1) : row == 2 && (i & 2) ? AT(2) : NULL);
        rex_map_free(&map);
    }
}

/* ---- sections through mappers -------------------------------------------------------------------------------------------- */

struct list {
    int64_t count;
    int64_t *values;
};

static int map_list(struct rex_map_builder *builder, void *element)
{
    struct list *list = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *list));
    return result == REX_OK ? rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, list->values, 0, list->count)) : result;
}

/* Maps the list in a section of its own, which copies nothing, and then itself. */
static int map_behind(struct rex_map_builder *builder, void *element)
{
    int result = rex_map_add_mapped(builder, map_list, REX_ALLOC((struct list *)element, 1), sizeof(struct list));
    return result == REX_OK ? rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *(struct list *)element)) : result;
}

/* A mapper that calls itself for a section of its own: LEVELS more times, or without end where that is negative. */
static int levels;
static int map_itself(struct rex_map_builder *builder, void *element)
{
    static int depth;
    if (levels >= 0 && depth >= levels)
        return rex_map_add(builder, rex_row_of(element, element, 1, REX_MAP_TOFROM));
    depth++;
    int result = rex_map_add_mapped(builder, map_itself, rex_row_of(element, element, 1, REX_MAP_TOFROM), 1);
    depth--;
    return result;
}

struct section {
    const char *what;
    rex_mapper *mapper;
    struct rex_row row;
    int64_t element_size, rows_before;
    int levels;
};

static int push_section(struct rex_map_builder *builder, void *context)
{
    struct section *section = context;
    levels = section->levels;
    int result = push_many(builder, &section->rows_before);
    return result == REX_OK ? rex_map_add_mapped(builder, section->mapper, section->row, section->element_size) : result;
}

TEST(sections)
{
    static int64_t values[8];
    static struct list lists[] = {{3, values}, {5, values + 3}}, without = {3, NULL}, *none;
    char byte;
    const int64_t size = sizeof *lists;
    struct section sections[] = {
        {"good", map_list, REX_TOFROM(lists, 2), size, 0, 0},
        /* What the section does not copy, its elements do not; how it copies, they do. */
        {"to", map_list, REX_TO(lists, 2), size, 0, 0},
        {"from", map_list, REX_FROM(lists, 2), size, 0, 0},
        {"deleted", map_list, REX_DELETE(lists, 2), size, 0, 0},
        {"in every way", map_list, REX_ALWAYS(REX_PRESENT(REX_CLOSE(REX_HOLD(REX_ALLOC(lists, 2))))), size, 0, 0},
        {"empty", map_list, REX_TOFROM(none, 0), size, 0, 0},
        {"behind another", map_behind, REX_TO(lists, 2), size, 0, 0},
        {"no mapper", NULL, REX_TOFROM(lists, 2), size, 0, 0},
        {"at NULL", map_list, REX_TOFROM(none, 2), size, 0, 0},
        {"elements of no size", map_list, REX_TOFROM(lists, 2), 0, 0, 0},
        {"elements of less", map_list, REX_TOFROM(lists, 2), -size, 0, 0},
        {"larger elements", map_list, REX_TOFROM(lists, 2), 3 * size, 0, 0},
        {"smaller elements", map_list, REX_TOFROM(lists, 2), size / 2, 0, 0},
        {"a byte more", map_list, REX_TOFROM((char *)lists, size + 1), size, 0, 0},
        {"fewer than none", map_list, REX_TOFROM(lists, -2), size, 0, 0},
        {"a pointee at NULL", map_list, REX_TOFROM(&without, 1), size, 0, 0},
        {"nested", map_itself, REX_TO(&byte, 1), 1, 0, 63},
        {"nested deeper", map_itself, REX_TO(&byte, 1), 1, 0, 64},
        {"without end", map_itself, REX_TO(&byte, 1), 1, 0, -1},
        {"far down", map_list, REX_TOFROM(lists, 2), size, REX_PARENT_MAX, 0},
        {"too far down", map_list, REX_TOFROM(lists, 2), size, REX_PARENT_MAX + 1, 0},
        /* A section inside another that can be named is none the worse. */
        {"far down and nested", map_itself, REX_TO(&byte, 1), 1, REX_PARENT_MAX, 2},
    };
    for (size_t i = 0; i < COUNT(sections); i++)
        builds(sections[i].what, NULL, push_section, &sections[i], NULL);
}

/* ---- rectangles ------------------------------------------------------------------------------------------------------------------ */

struct rectangle {
    void *base;
    int64_t element_size;
    struct rex_dimension dimensions[9];
    int count;
    int32_t first; /* row */
};

static int push_rectangle(struct rex_map_builder *builder, void *context)
{
    struct rectangle *r = context;
    builder->row += r->first;
    return rex_map_add_strided(builder, r->base, r->element_size, r->dimensions, r->count, REX_MAP_FROM);
}

/* Each time with a row more. */
static int push_larger_rectangle(struct rex_map_builder *builder, void *context)
{
    struct rectangle *r = context;
    r->dimensions[1].length++;
    return push_rectangle(builder, r);
}

#define ONE {1, 0, 1, 1}
#define TWO {2, 0, 2, 1}

TEST(rectangles)
{
    void *array = AT(4096);
    struct rectangle all[] = {
        {array, 8, {{100, 3, 5, 1}}, 1, 0},
        {array, 8, {{100, 3, 5, 20}}, 1, 0},
        {array, 8, {{100, 99, 1, 1000}}, 1, 0},
        {array, 8, {{100, 100, 0, 1}}, 1, 0},
        /* Rows of a matrix, a part of it, all of it, columns. */
        {array, 4, {{10, 2, 3, 1}, {20, 0, 20, 1}}, 2, 0},
        {array, 4, {{10, 2, 3, 2}, {20, 0, 20, 1}}, 2, 0},
        {array, 4, {{10, 2, 3, 1}, {20, 5, 6, 1}}, 2, 0},
        {array, 4, {{10, 0, 10, 1}, {20, 7, 1, 1}}, 2, 0},
        {array, 4, {TWO, {3, 1, 2, 1}, {4, 0, 4, 1}}, 3, 0},
        {array, 4, {TWO, {3, 0, 3, 1}, {4, 0, 4, 1}}, 3, 0},
        {array, 4, {TWO, {3, 0, 3, 1}, {4, 0, 0, 1}}, 3, 0},
        {array, 1, {TWO, TWO, TWO, TWO, TWO, TWO, TWO, {2, 1, 1, 1}}, 8, 0},
        /* What is none. */
        {NULL, 1, {{10, 0, 1, 1}}, 1, 0},
        {array, 0, {{10, 0, 1, 1}}, 1, 0},
        {array, -1, {{10, 0, 1, 1}}, 1, 0},
        {array, 1, {{10, 0, 1, 1}}, 0, 0},
        {array, 1, {{10, 0, 1, 1}}, -1, 0},
        {array, 1, {ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE}, 9, 0},
        {array, 1, {{0, 0, 1, 1}}, 1, 0},
        {array, 1, {{-10, 0, 1, 1}}, 1, 0},
        {array, 1, {{10, -1, 1, 1}}, 1, 0},
        {array, 1, {{10, 0, -1, 1}}, 1, 0},
        {array, 1, {{10, 0, 1, 0}}, 1, 0},
        {array, 1, {{10, 0, 2, -1}}, 1, 0},
        {array, 1, {{10, 0, 11, 1}}, 1, 0},
        {array, 1, {{10, 10, 1, 1}}, 1, 0},
        {array, 1, {{10, 1, 4, 3}}, 1, 0},
        {array, 1, {{10, 0, INT64_MAX, 1}}, 1, 0},
        {array, 1, {{10, INT64_MAX, 2, INT64_MAX}}, 1, 0},
        {array, 1, {{10, 0, 3, INT64_MAX}}, 1, 0},
        {array, 8, {{INT64_MAX, 0, 1, 1}}, 1, 0},
        {array, 1, {{INT64_C(1) << 32, 0, 1, 1}, {INT64_C(1) << 31, 0, 1, 1}}, 2, 0},
        {array, 1, {{10, 0, 10, 1}, {10, 0, 11, 1}}, 2, 0},
        {array, 1, {{10, 0, 11, 1}, {10, 0, 10, 1}}, 2, 0},
        /* Nothing to copy does not make a wrong dimension right. */
        {array, 1, {{10, 0, 0, 1}, {10, 0, 11, 1}}, 2, 0},
        {array, 1, {{10, 11, 0, 1}}, 1, 0},
        /* More rows than a map has numbers for. */
        {array, 1, {{100, 3, 4, 20}, {20, 1, 3, 2}}, 2, INT32_MAX - 11},
    };
    char what[32];
    for (size_t i = 0; i < COUNT(all); i++) {
        snprintf(what, sizeof what, "rectangle %zu", i);
        builds(what, NULL, push_rectangle, &all[i], NULL);
    }
    struct rectangle growing = {array, 4, {{10, 2, 3, 1}, {20, 5, 2, 3}}, 2, 0};
    builds("more than were counted", NULL, push_larger_rectangle, &growing, NULL);
}
