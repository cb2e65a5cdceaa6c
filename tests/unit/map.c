/*
 * Maps that are built at run time: what comes out of rows, mappers and rectangles, and what is refused. No runtime is needed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/common.h"

#include <rex.h>

#include "memory/section.h"

#define AT(number) ((void *)(uintptr_t)(number))

static void check_row(const struct rex_map *map, int32_t row, uintptr_t base, uintptr_t begin, int64_t size, int64_t type)
{
    assert_in_range(row, 0, map->count - 1);
    assert_int_equal((uintptr_t)map->base[row], base);
    assert_int_equal((uintptr_t)map->begin[row], begin);
    assert_int_equal(map->sizes[row], size);
    assert_int_equal(map->types[row], type);
}

/* A build that fails with CODE and a message that contains PART, and leaves the map alone. */
static void check_refused(const struct rex_map *prefix, rex_rows *rows, void *context, const struct rex_map *suffix, int code,
                          const char *part)
{
    struct rex_map map, before;
    memset(&map, 0x5a, sizeof map);
    memcpy(&before, &map, sizeof before);
    assert_int_equal(rex_map_build(&map, prefix, rows, context, suffix), code);
    assert_memory_equal(&map, &before, sizeof map);
    if (part != NULL && strstr(rex_last_error(), part) == NULL)
        fail_msg("no \"%s\" in \"%s\"", part, rex_last_error());
    if (part != NULL)
        assert_int_equal(rex_last_error_code(), code);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

/* An object and two of its members, wherever the rows begin. */
static int push_object(struct rex_map_builder *builder, void *context)
{
    int *calls = context;
    int32_t parent = rex_map_next_row(builder);
    int result = rex_map_add(builder, rex_row_of(AT(100), AT(100), 64, REX_MAP_TARGET_PARAM));
    for (int i = 0; i < 2 && result == REX_OK; i++)
        result = rex_map_add(builder, rex_row_member(rex_row_of(AT(100), AT(100 + 8 * i), 8, REX_MAP_TO), parent));
    ++*calls;
    return result;
}

TEST(prefix_rows_suffix)
{
    struct rex_map map, again;
    int calls = 0;
    REX_MAP(prefix, REX_VALUE(7), rex_row_of(AT(8), AT(8), 16, REX_MAP_TO), rex_row_member(rex_row_of(AT(8), AT(16), 8, REX_MAP_TO), 1));
    REX_MAP(suffix, rex_row_of(AT(200), AT(200), 32, 0), rex_row_member(rex_row_of(AT(200), AT(208), 8, REX_MAP_FROM), 0),
            rex_row_member(rex_row_of(AT(208), AT(300), 8, REX_MAP_PTR_AND_OBJ), 1), REX_VALUE(9));
    assert_int_equal(rex_map_build(&map, &prefix, push_object, &calls, &suffix), 0);
    assert_int_equal(calls, 2);
    assert_int_equal(map.count, 10);
    assert_null(map.mappers);
    assert_non_null(map.storage);
    check_row(&map, 0, 7, 7, 4, REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_KIND(REX_KIND_I32));
    check_row(&map, 1, 8, 8, 16, REX_MAP_TO);
    check_row(&map, 2, 8, 16, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(1));
    check_row(&map, 3, 100, 100, 64, REX_MAP_TARGET_PARAM);
    check_row(&map, 4, 100, 100, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(3));
    check_row(&map, 5, 100, 108, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(3));
    check_row(&map, 6, 200, 200, 32, 0);
    check_row(&map, 7, 200, 208, 8, REX_MAP_FROM | REX_MAP_MEMBER_OF(6));
    check_row(&map, 8, 208, 300, 8, REX_MAP_PTR_AND_OBJ | REX_MAP_MEMBER_OF(7));
    check_row(&map, 9, 9, 9, 4, REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_KIND(REX_KIND_I32));

    /* A built map is a map like any other, and its members move along again. */
    assert_int_equal(rex_map_build(&again, &map, NULL, NULL, &map), 0);
    assert_int_equal(again.count, 20);
    check_row(&again, 4, 100, 100, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(3));
    check_row(&again, 14, 100, 100, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(13));
    check_row(&again, 18, 208, 300, 8, REX_MAP_PTR_AND_OBJ | REX_MAP_MEMBER_OF(17));
    /* The other bits at the top end of the type stay. */
    assert_int_equal(again.types[18] & ~REX_MAP_MEMBER_OF_MASK, REX_MAP_PTR_AND_OBJ);
    rex_map_free(&again);
    rex_map_free(&map);
    assert_null(map.storage);
    assert_null(map.base);
    assert_int_equal(map.count, 0);
}

TEST(empty_maps)
{
    struct rex_map map;
    assert_int_equal(rex_map_build(&map, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(map.count, 0);
    assert_true(map.base != NULL && map.begin != NULL && map.sizes != NULL && map.types != NULL);
    rex_map_free(&map);
    rex_map_free(&map);
    rex_map_free(NULL);

    REX_MAP(columns, REX_VALUE(1));
    void **const base = columns.base;
    rex_map_free(&columns);
    assert_int_equal(columns.count, 1);
    assert_ptr_equal(columns.base, base);
    assert_int_equal(rex_map_build(NULL, &columns, NULL, NULL, NULL), REX_EINVAL);
}

/* Mappers of the runtime's kind go along with their rows. */
TEST(fixed_parts_with_mappers)
{
    struct rex_map map;
    int calls = 0;
    void *of_prefix[] = {NULL, AT(1)}, *of_suffix[] = {AT(2)};
    REX_MAP(prefix, REX_VALUE(1), rex_row_of(AT(8), AT(8), 16, REX_MAP_TO));
    REX_MAP(suffix, rex_row_of(AT(8), AT(8), 16, REX_MAP_TO));
    for (int i = 0; i < 4; i++) {
        prefix.mappers = i & 1 ? of_prefix : NULL;
        suffix.mappers = i & 2 ? of_suffix : NULL;
        assert_int_equal(rex_map_build(&map, &prefix, push_object, &calls, &suffix), 0);
        assert_int_equal(map.count, 6);
        assert_true((map.mappers != NULL) == (i > 0));
        for (int row = 0; i > 0 && row < 6; row++)
            assert_ptr_equal(map.mappers[row], row == 1 && (i & 1) ? AT(1) : row == 5 && (i & 2) ? AT(2) : NULL);
        check_row(&map, 5, 8, 8, 16, REX_MAP_TO);
        rex_map_free(&map);
        assert_null(map.mappers);
    }
}

TEST(fixed_parts_that_are_none)
{
    REX_MAP(good, REX_VALUE(1));
    for (int i = 0; i < 5; i++) {
        struct rex_map bad = good;
        *(i == 0 ? &bad.base : i == 1 ? &bad.begin : &bad.mappers) = NULL;
        bad.sizes = i == 2 ? NULL : bad.sizes;
        bad.types = i == 3 ? NULL : bad.types;
        bad.count = i == 4 ? -1 : 1;
        check_refused(&bad, NULL, NULL, &good, REX_EINVAL,
                      i == 4 ? "rex_map_build: a prefix with a negative number of rows, -1"
                             : "rex_map_build: a prefix of 1 rows with a column that is NULL");
        check_refused(&good, NULL, NULL, &bad, REX_EINVAL,
                      i == 4 ? "rex_map_build: a suffix with a negative number of rows, -1"
                             : "rex_map_build: a suffix of 1 rows with a column that is NULL");
    }
}

/* ---- rows that are refused ------------------------------------------------------------------------------------------------ */

static int push_one(struct rex_map_builder *builder, void *context)
{
    return rex_map_add(builder, *(struct rex_row *)context);
}

static int fail_with(struct rex_map_builder *builder, void *context)
{
    int result = rex_map_add(builder, rex_row_of(NULL, NULL, 0, 0));
    return result == REX_OK ? *(int *)context : result;
}

TEST(refused_rows)
{
    REX_MAP(one, REX_VALUE(1));
    struct rex_row negative = rex_row_of(AT(8), AT(8), -8, REX_MAP_TO), own = rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF(0)),
                   later = rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF(5));
    check_refused(NULL, push_one, &negative, NULL, REX_EINVAL, "map row 0: a size of -8 bytes");
    check_refused(&one, push_one, &negative, NULL, REX_EINVAL, "map row 1: a size of -8 bytes");
    check_refused(NULL, push_one, &own, NULL, REX_EINVAL, "map row 0 is a member of row 0, which does not come before it");
    check_refused(&one, push_one, &later, NULL, REX_EINVAL, "map row 1 is a member of row 5, which does not come before it");
    REX_MAP(loose, rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF(0)));
    check_refused(&loose, NULL, NULL, NULL, REX_EINVAL, "row 0 is a member of row 0");
    check_refused(&one, NULL, NULL, &loose, REX_EINVAL, "row 1 is a member of row 1");

    int codes[] = {REX_EHOST, REX_EABSENT, -77, 1};
    for (size_t i = 0; i < COUNT(codes); i++)
        check_refused(&one, fail_with, &codes[i], &one, codes[i], NULL);
}

struct passes {
    int calls;
    int rows[2];
    int result[2];
};

static int push_by_pass(struct rex_map_builder *builder, void *context)
{
    struct passes *passes = context;
    int call = passes->calls++;
    assert_in_range(call, 0, 1);
    for (int i = 0; i < passes->rows[call]; i++) {
        int result = rex_map_add(builder, rex_row_of(AT(8), AT(8), 8, REX_MAP_TO));
        if (result != REX_OK)
            return result;
    }
    return passes->result[call];
}

TEST(passes_that_disagree)
{
    REX_MAP(one, REX_VALUE(1));
    struct passes more = {0, {3, 4}, {0, 0}}, fewer = {0, {3, 2}, {0, 0}}, none = {0, {3, 0}, {0, 0}}, many = {0, {0, 1000}, {0, 0}},
                  late = {0, {3, 3}, {0, -77}}, early = {0, {3, 3}, {-76, 0}}, hidden = {0, {3, 4}, {0, 0}};
    check_refused(NULL, push_by_pass, &more, NULL, REX_EINVAL, "the row function pushes more rows when it fills the map than the 3 that it counted");
    check_refused(NULL, push_by_pass, &fewer, NULL, REX_EINVAL, "the row function counted 3 rows and pushed 2 when it filled the map");
    check_refused(NULL, push_by_pass, &none, NULL, REX_EINVAL, "counted 3 rows and pushed 0");
    check_refused(NULL, push_by_pass, &many, NULL, REX_EINVAL, "counted");
    check_refused(NULL, push_by_pass, &late, NULL, -77, NULL);
    assert_int_equal(late.calls, 2);
    check_refused(NULL, push_by_pass, &early, NULL, -76, NULL);
    assert_int_equal(early.calls, 1);
    /* The room that a suffix needs is no room for more rows before it. */
    check_refused(&one, push_by_pass, &hidden, &one, REX_EINVAL, "counted");
}

/* An error of rex_map_add() is one even where the row function does not pass it on. */
static int ignore_errors(struct rex_map_builder *builder, void *context)
{
    struct rex_row *rows = context;
    rex_map_add(builder, rows[0]);
    rex_map_add(builder, rows[1]);
    return REX_OK;
}

TEST(an_ignored_error_adds_no_row)
{
    struct rex_map map;
    struct rex_row rows[] = {rex_row_of(AT(8), AT(8), -1, 0), rex_row_of(AT(8), AT(8), 8, REX_MAP_TO)};
    assert_int_equal(rex_map_build(&map, NULL, ignore_errors, rows, NULL), 0);
    assert_int_equal(map.count, 1);
    check_row(&map, 0, 8, 8, 8, REX_MAP_TO);
    rex_map_free(&map);
}

/* ---- limits ------------------------------------------------------------------------------------------------------------------ */

static int push_many(struct rex_map_builder *builder, void *context)
{
    int result = REX_OK;
    for (int64_t i = 0; i < *(int64_t *)context && result == REX_OK; i++)
        result = rex_map_add(builder, rex_row_of(AT(8), AT(8), 8, REX_MAP_TO));
    return result;
}

TEST(parents_far_down)
{
    struct rex_map map;
    int64_t before = REX_PARENT_MAX;
    REX_MAP(suffix, REX_VALUE(1), rex_row_member(rex_row_of(AT(8), AT(8), 8, REX_MAP_TO), 0));
    assert_int_equal(rex_map_build(&map, NULL, push_many, &before, &suffix), 0);
    assert_int_equal(map.count, before + 2);
    check_row(&map, REX_PARENT_MAX + 1, 8, 8, 8, REX_MAP_TO | REX_MAP_MEMBER_OF(REX_PARENT_MAX));
    rex_map_free(&map);
    before++;
    check_refused(NULL, push_many, &before, &suffix, REX_EINVAL, "map row 65535: its parent would be row 65534, and at most 65533 can be named");
    /* Rows without a parent may be any number. */
    REX_MAP(plain, REX_VALUE(1));
    before = 3 * REX_PARENT_MAX;
    assert_int_equal(rex_map_build(&map, NULL, push_many, &before, &plain), 0);
    assert_int_equal(map.count, before + 1);
    rex_map_free(&map);
}

/* A row behind them all, whose parent's number is all ones. */
static int push_many_and_all_ones(struct rex_map_builder *builder, void *context)
{
    int result = push_many(builder, context);
    return result != REX_OK ? result : rex_map_add(builder, rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF_MASK | REX_MAP_TO));
}

/* All ones are the compilers'. */
TEST(all_ones_name_no_parent)
{
    int64_t before = 65535;
    REX_MAP(suffix, rex_row_of(AT(8), AT(8), 8, REX_MAP_MEMBER_OF_MASK | REX_MAP_TO));
    struct rex_map large, map = {0};
    assert_int_equal(rex_map_build(&large, NULL, push_many, &before, NULL), 0);
    large.types[65534] |= REX_MAP_MEMBER_OF(65533);
    assert_int_equal(rex_map_build(&map, &large, NULL, NULL, NULL), 0);
    rex_map_free(&map);
    large.types[65534] |= REX_MAP_MEMBER_OF_MASK;
    check_refused(&large, NULL, NULL, NULL, REX_EINVAL, "65534");
    check_refused(NULL, push_many, &before, &suffix, REX_EINVAL, "at most 65533");
    check_refused(NULL, push_many_and_all_ones, &before, NULL, REX_EINVAL, "row 65535 is a member of row 65534, and at most 65533 can be named");
    rex_map_free(&large);
}

/* What does not fit in the 16 bits of a type is seen before it is lost. */
TEST(parents_that_have_no_number)
{
    int32_t parents[] = {-1, INT32_MIN, REX_PARENT_MAX + 1, 65535, 65536, INT32_MAX};
    REX_MAP(one, REX_VALUE(1));
    for (size_t i = 0; i < COUNT(parents); i++) {
        struct rex_row row = rex_row_member(rex_row_of(AT(8), AT(8), 8, REX_MAP_TO), parents[i]);
        assert_true(row.size < 0);
        check_refused(&one, push_one, &row, NULL, REX_EINVAL, "a size of -1");
    }
    assert_int_equal(REX_MAP_MEMBER_OF(0), INT64_C(1) << 48);
    assert_int_equal((uint64_t)REX_MAP_MEMBER_OF(REX_PARENT_MAX), UINT64_C(0xfffe) << 48);
    assert_int_equal((uint64_t)REX_MAP_MEMBER_OF_MASK, UINT64_C(0xffff) << 48);
}

static int push_past_the_end(struct rex_map_builder *builder, void *context)
{
    int64_t *row = context;
    builder->row = *row;
    return rex_map_add(builder, rex_row_of(AT(8), AT(8), 8, REX_MAP_TO));
}

/* rules.mk leads calls of calloc() here. */
static int memory_is_out;
static int allocations;
static size_t last_allocation;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    last_allocation = count * size;
    return memory_is_out ? NULL : __real_calloc(count, size);
}

/* Four columns are one allocation; without it nothing has changed, and the next try succeeds. */
TEST(out_of_memory)
{
    int calls = 0;
    struct rex_map map;
    REX_MAP(fixed, REX_VALUE(1), REX_VALUE(2));
    memory_is_out = 1;
    check_refused(&fixed, push_object, &calls, &fixed, REX_ENOMEM, "out of memory: 256 bytes for the rows of a map");
    assert_int_equal(calls, 1);
    check_refused(NULL, NULL, NULL, NULL, REX_ENOMEM, "out of memory: 32 bytes for the rows of a map");
    void *mappers[] = {NULL, AT(1)};
    fixed.mappers = mappers;
    check_refused(&fixed, NULL, NULL, NULL, REX_ENOMEM, "out of memory: 120 bytes for the rows of a map");
    fixed.mappers = NULL;
    memory_is_out = 0;
    allocations = 0;
    assert_int_equal(rex_map_build(&map, &fixed, push_object, &calls, &fixed), 0);
    assert_int_equal(allocations, 1);
    assert_in_range(last_allocation, 7 * 32, 8 * 32);
    assert_int_equal(map.count, 7);
    assert_int_equal(calls, 3);
    rex_map_free(&map);
    assert_null(map.base);
    rex_map_free(&map);
    rex_map_free(NULL);
    rex_map_free(&fixed);
    assert_int_equal(fixed.count, 2);
}

TEST(more_rows_than_a_number_has)
{
    int64_t row = INT32_MAX;
    check_refused(NULL, push_past_the_end, &row, NULL, REX_EINVAL, "a map of more than 2147483647 rows");
}

/* ---- mappers ------------------------------------------------------------------------------------------------------------------- */

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

struct group {
    int64_t lists;
    struct list *list;
};

static int map_group(struct rex_map_builder *builder, void *element)
{
    struct group *group = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *group));
    if (result != REX_OK)
        return result;
    return rex_map_add_mapped(builder, map_list, REX_ATTACH(REX_MAP_TOFROM, group->list, 0, group->lists), sizeof *group->list);
}

struct section {
    rex_mapper *mapper;
    struct rex_row row;
    int64_t element_size;
};

static int push_section(struct rex_map_builder *builder, void *context)
{
    struct section *section = context;
    return rex_map_add_mapped(builder, section->mapper, section->row, section->element_size);
}

static int64_t values[8];
static struct list lists[] = {{3, values}, {5, values + 3}};

/* What is copied of an element is what both the section and the element's row copy. */
static void check_expansion(struct rex_row row, int64_t passed_on)
{
    struct section section = {map_list, row, sizeof *lists};
    struct rex_map map;
    REX_MAP(one, REX_VALUE(1));
    assert_int_equal(rex_map_build(&map, &one, push_section, &section, &one), 0);
    assert_int_equal(map.count, 7);
    int64_t member = REX_MAP_MEMBER_OF(1);
    check_row(&map, 1, (uintptr_t)lists, (uintptr_t)lists, sizeof lists, (row.type & ~REX_MAP_TOFROM) | REX_MAP_IMPLICIT);
    for (int i = 0; i < 2; i++) {
        check_row(&map, 2 + 2 * i, (uintptr_t)&lists[i], (uintptr_t)&lists[i], sizeof *lists, passed_on | member);
        check_row(&map, 3 + 2 * i, (uintptr_t)&lists[i].values, (uintptr_t)lists[i].values, 8 * lists[i].count,
                  passed_on | member | REX_MAP_PTR_AND_OBJ);
    }
    rex_map_free(&map);
}

TEST(sections_through_a_mapper)
{
    check_expansion(REX_TOFROM(lists, 2), REX_MAP_TOFROM);
    check_expansion(REX_TO(lists, 2), REX_MAP_TO);
    check_expansion(REX_FROM(lists, 2), REX_MAP_FROM);
    check_expansion(REX_ALLOC(lists, 2), 0);
    check_expansion(REX_DELETE(lists, 2), REX_MAP_DELETE);
    check_expansion(REX_ALWAYS(REX_TO(lists, 2)), REX_MAP_TO | REX_MAP_ALWAYS);
    check_expansion(REX_HOLD(REX_CLOSE(REX_PRESENT(REX_TOFROM(lists, 2)))),
                    REX_MAP_TOFROM | REX_MAP_OMPX_HOLD | REX_MAP_CLOSE | REX_MAP_PRESENT);
    check_expansion(REX_TO(lists, 2), REX_MAP_TO);
}

TEST(nested_sections)
{
    struct group groups[] = {{2, lists}, {0, NULL}, {1, lists + 1}};
    struct section section = {map_group, REX_TO(groups, 3), sizeof *groups};
    struct rex_map map;
    assert_int_equal(rex_map_build(&map, NULL, push_section, &section, NULL), 0);
    assert_int_equal(map.count, 1 + (1 + 1 + 4) + (1 + 1) + (1 + 1 + 2));
    int64_t outer = REX_MAP_MEMBER_OF(0);
    check_row(&map, 0, (uintptr_t)groups, (uintptr_t)groups, sizeof groups, REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT);
    check_row(&map, 1, (uintptr_t)groups, (uintptr_t)groups, sizeof *groups, REX_MAP_TO | outer);
    check_row(&map, 2, (uintptr_t)&groups[0].list, (uintptr_t)lists, sizeof lists, REX_MAP_PTR_AND_OBJ | REX_MAP_IMPLICIT | outer);
    check_row(&map, 3, (uintptr_t)lists, (uintptr_t)lists, sizeof *lists, REX_MAP_TO | REX_MAP_MEMBER_OF(2));
    check_row(&map, 4, (uintptr_t)&lists[0].values, (uintptr_t)values, 24, REX_MAP_TO | REX_MAP_PTR_AND_OBJ | REX_MAP_MEMBER_OF(2));
    check_row(&map, 7, (uintptr_t)&groups[1], (uintptr_t)&groups[1], sizeof *groups, REX_MAP_TO | outer);
    check_row(&map, 8, (uintptr_t)&groups[1].list, 0, 0, REX_MAP_PTR_AND_OBJ | REX_MAP_IMPLICIT | outer);
    check_row(&map, 9, (uintptr_t)&groups[2], (uintptr_t)&groups[2], sizeof *groups, REX_MAP_TO | outer);
    check_row(&map, 11, (uintptr_t)(lists + 1), (uintptr_t)(lists + 1), sizeof *lists, REX_MAP_TO | REX_MAP_MEMBER_OF(10));
    rex_map_free(&map);
}

static void check_section_refused(rex_mapper *mapper, struct rex_row row, int64_t element_size, const char *part)
{
    struct section section = {mapper, row, element_size};
    check_refused(NULL, push_section, &section, NULL, REX_EINVAL, part);
}

static int map_failing(struct rex_map_builder *builder, void *element)
{
    struct list *list = element;
    return list == &lists[1] ? -77 : map_list(builder, element);
}

TEST(refused_sections)
{
    struct list *none = NULL;
    int64_t size = sizeof *lists;
    struct rex_map map;
    check_section_refused(NULL, REX_TOFROM(lists, 2), size, "rex_map_add_mapped: map row 0: the mapper is NULL");
    check_section_refused(map_list, REX_TOFROM(none, 2), size, "map row 0: a section of 2 elements at NULL");
    check_section_refused(map_list, REX_TOFROM(lists, 2), 0, "no whole number of elements");
    check_section_refused(map_list, REX_TOFROM(lists, 2), -size, "no whole number of elements");
    check_section_refused(map_list, REX_TOFROM(lists, 2), 3 * size, "map row 0: a section of 32 bytes is no whole number of elements of 48 bytes");
    check_section_refused(map_list, REX_TOFROM((char *)lists, size + 1), size, "no whole number of elements");
    check_section_refused(map_list, REX_TOFROM(lists, -2), size, "no whole number of elements");
    struct section failing = {map_failing, REX_TOFROM(lists, 2), size};
    check_refused(NULL, push_section, &failing, NULL, -77, NULL);

    struct list without = {3, NULL};
    check_section_refused(map_list, REX_TOFROM(&without, 1), size, "map row 2: a mapper maps 24 bytes at NULL");

    struct section empty = {map_list, REX_TOFROM(none, 0), size};
    assert_int_equal(rex_map_build(&map, NULL, push_section, &empty, NULL), 0);
    assert_int_equal(map.count, 1);
    check_row(&map, 0, 0, 0, 0, REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT);
    rex_map_free(&map);
}

/* A mapper that calls itself for a section of its own: LEVELS more times, or without end where that is negative. */
static int levels;
static int map_itself(struct rex_map_builder *builder, void *element)
{
    static int depth;
    if (levels >= 0 && depth >= levels)
        return rex_map_add(builder, rex_row_of(element, element, 1, REX_MAP_TO));
    depth++;
    int result = rex_map_add_mapped(builder, map_itself, rex_row_of(element, element, 1, REX_MAP_TO), 1);
    depth--;
    return result;
}

TEST(recursion)
{
    char byte;
    struct section section = {map_itself, REX_TO(&byte, 1), 1};
    struct rex_map map;
    levels = 63;
    assert_int_equal(rex_map_build(&map, NULL, push_section, &section, NULL), 0);
    assert_int_equal(map.count, 65);
    check_row(&map, 64, (uintptr_t)&byte, (uintptr_t)&byte, 1, REX_MAP_TO | REX_MAP_MEMBER_OF(63));
    rex_map_free(&map);
    levels = 64;
    check_section_refused(map_itself, section.row, 1, "mappers nest deeper than 64: does one call itself without end?");
    levels = -1;
    check_section_refused(map_itself, section.row, 1, "mappers nest deeper than 64: does one call itself without end?");
}

struct after {
    int64_t rows;
    struct section section;
};

static int push_after(struct rex_map_builder *builder, void *context)
{
    struct after *after = context;
    int result = push_many(builder, &after->rows);
    return result == REX_OK ? push_section(builder, &after->section) : result;
}

TEST(sections_far_down)
{
    struct rex_map map;
    struct after after = {REX_PARENT_MAX, {map_list, REX_TOFROM(lists, 2), sizeof *lists}};
    assert_int_equal(rex_map_build(&map, NULL, push_after, &after, NULL), 0);
    assert_int_equal(map.types[map.count - 1] & REX_MAP_MEMBER_OF_MASK, REX_MAP_MEMBER_OF(REX_PARENT_MAX));
    rex_map_free(&map);
    after.rows++;
    check_refused(NULL, push_after, &after, NULL, REX_EINVAL,
                  "map row 65534: a section with a mapper needs a row that its elements can name, and that ends at 65533");

    /* A section inside another that can be named is none the worse. */
    static struct group groups[2];
    groups[0] = groups[1] = (struct group){2, lists};
    after = (struct after){REX_PARENT_MAX, {map_group, REX_TOFROM(groups, 2), sizeof *groups}};
    assert_int_equal(rex_map_build(&map, NULL, push_after, &after, NULL), 0);
    for (int32_t i = REX_PARENT_MAX + 1; i < map.count; i++)
        assert_int_equal(map.types[i] & REX_MAP_MEMBER_OF_MASK, REX_MAP_MEMBER_OF(REX_PARENT_MAX));
    rex_map_free(&map);
}

/* ---- rectangles ------------------------------------------------------------------------------------------------------------------ */

struct rectangle {
    void *base;
    int64_t element_size;
    struct rex_dimension dimensions[9];
    int count;
};

static int push_rectangle(struct rex_map_builder *builder, void *context)
{
    struct rectangle *r = context;
    return rex_map_add_strided(builder, r->base, r->element_size, r->dimensions, r->count, REX_MAP_FROM);
}

static void check_runs(struct rectangle r, int32_t rows, int64_t first, int64_t bytes)
{
    struct rex_map map;
    assert_int_equal(rex_map_build(&map, NULL, push_rectangle, &r, NULL), 0);
    assert_int_equal(map.count, rows);
    for (int32_t i = 0; i < rows; i++) {
        assert_ptr_equal(map.base[i], r.base);
        assert_int_equal(map.sizes[i], bytes);
        assert_int_equal(map.types[i], REX_MAP_FROM);
    }
    if (rows > 0)
        assert_int_equal((char *)map.begin[0] - (char *)r.base, first);
    rex_map_free(&map);
}

TEST(runs_of_rectangles)
{
    void *base = AT(4096);
    check_runs((struct rectangle){base, 8, {{100, 3, 5, 1}}, 1}, 1, 24, 40);
    check_runs((struct rectangle){base, 8, {{100, 3, 5, 20}}, 1}, 5, 24, 8);
    check_runs((struct rectangle){base, 8, {{100, 99, 1, 1000}}, 1}, 1, 792, 8);
    check_runs((struct rectangle){base, 8, {{100, 0, 0, 1}}, 1}, 0, 0, 0);
    check_runs((struct rectangle){base, 8, {{100, 100, 0, 1}}, 1}, 0, 0, 0);
    /* Rows of a matrix, a part of it, all of it, columns. */
    check_runs((struct rectangle){base, 4, {{10, 2, 3, 1}, {20, 0, 20, 1}}, 2}, 1, 160, 240);
    check_runs((struct rectangle){base, 4, {{10, 2, 3, 2}, {20, 0, 20, 1}}, 2}, 3, 160, 80);
    check_runs((struct rectangle){base, 4, {{10, 2, 3, 1}, {20, 5, 6, 1}}, 2}, 3, 180, 24);
    check_runs((struct rectangle){base, 4, {{10, 0, 10, 1}, {20, 7, 1, 1}}, 2}, 10, 28, 4);
    check_runs((struct rectangle){base, 4, {{2, 0, 2, 1}, {3, 1, 2, 1}, {4, 0, 4, 1}}, 3}, 2, 16, 32);
    check_runs((struct rectangle){base, 4, {{2, 0, 2, 1}, {3, 0, 3, 1}, {4, 0, 4, 1}}, 3}, 1, 0, 96);
    check_runs((struct rectangle){base, 4, {{2, 0, 2, 1}, {3, 0, 3, 1}, {4, 0, 0, 1}}, 3}, 0, 0, 0);
    check_runs(
        (struct rectangle){
            base, 1, {{2, 0, 2, 1}, {2, 0, 2, 1}, {2, 0, 2, 1}, {2, 0, 2, 1}, {2, 0, 2, 1}, {2, 0, 2, 1}, {2, 0, 2, 1}, {2, 1, 1, 1}}, 8},
        128, 1, 1);
}

/* The rows that a map has no number for, and what a row is refused for. */
TEST(long_rectangles)
{
    static char array[8];
    struct rex_dimension dimensions[] = {{100, 3, 4, 20}, {20, 1, 3, 2}};
    for (int64_t room = 11; room <= 12; room++) {
        struct rex_map_builder builder = {.row = INT32_MAX - room};
        assert_int_equal(rex_map_add_strided(&builder, array, 1, dimensions, 2, REX_MAP_FROM), room == 12 ? REX_OK : REX_EINVAL);
        assert_int_equal(builder.row, room == 12 ? INT32_MAX : INT32_MAX - 11);
    }
    assert_string_equal(rex_last_error(), "rex_map_add_strided: a map of more than 2147483647 rows");
    struct rex_map_builder builder = {.row = 0};
    assert_int_equal(rex_map_add_strided(&builder, array, 1, dimensions, 2, REX_MAP_FROM | REX_MAP_MEMBER_OF(1)), REX_EINVAL);
    assert_string_equal(rex_last_error(), "map row 0 is a member of row 1, which does not come before it");
    assert_int_equal(builder.row, 0);
}

TEST(refused_rectangles)
{
    static char array[100];
    struct rectangle wrong[] = {
        {NULL, 1, {{10, 0, 1, 1}}, 1},
        {array, 0, {{10, 0, 1, 1}}, 1},
        {array, -1, {{10, 0, 1, 1}}, 1},
        {array, 1, {{10, 0, 1, 1}}, 0},
        {array, 1, {{10, 0, 1, 1}}, -1},
        {array,
         1,
         {{1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 0, 1, 1}},
         9},
        {array, 1, {{0, 0, 1, 1}}, 1},
        {array, 1, {{-10, 0, 1, 1}}, 1},
        {array, 1, {{10, -1, 1, 1}}, 1},
        {array, 1, {{10, 0, -1, 1}}, 1},
        {array, 1, {{10, 0, 1, 0}}, 1},
        {array, 1, {{10, 0, 2, -1}}, 1},
        {array, 1, {{10, 0, 11, 1}}, 1},
        {array, 1, {{10, 10, 1, 1}}, 1},
        {array, 1, {{10, 5, 6, 1}}, 1},
        {array, 1, {{10, 1, 4, 3}}, 1},
        {array, 1, {{10, 0, INT64_MAX, 1}}, 1},
        {array, 1, {{10, INT64_MAX, 2, INT64_MAX}}, 1},
        {array, 1, {{10, 0, 3, INT64_MAX}}, 1},
        {array, 8, {{INT64_MAX, 0, 1, 1}}, 1},
        {array, 1, {{INT64_C(1) << 32, 0, 1, 1}, {INT64_C(1) << 31, 0, 1, 1}}, 2},
        {array, 1, {{10, 0, 10, 1}, {10, 0, 11, 1}}, 2},
        {array, 1, {{10, 0, 11, 1}, {10, 0, 10, 1}}, 2},
        /* Nothing to copy does not make a wrong dimension right. */
        {array, 1, {{10, 0, 0, 1}, {10, 0, 11, 1}}, 2},
        {array, 1, {{10, 11, 0, 1}}, 1},
    };
    static const char past[] = "dimension 0: the part reaches past its 10 elements", past_1[] = "dimension 1: the part reaches past its 10 elements",
                      large[] = "dimension 0: the array's size in bytes is not representable";
    static const char *const says[COUNT(wrong)] = {
        "rex_map_add_strided: the base is NULL",
        "rex_map_add_strided: elements of 0 bytes, 1 dimensions of at most 8",
        "rex_map_add_strided: elements of -1 bytes, 1 dimensions of at most 8",
        "rex_map_add_strided: elements of 1 bytes, 0 dimensions of at most 8",
        "rex_map_add_strided: elements of 1 bytes, -1 dimensions of at most 8",
        "rex_map_add_strided: elements of 1 bytes, 9 dimensions of at most 8",
        "dimension 0: extent 0, lower 0, length 1, stride 1",
        "dimension 0: extent -10, lower 0, length 1, stride 1",
        "dimension 0: extent 10, lower -1, length 1, stride 1",
        "dimension 0: extent 10, lower 0, length -1, stride 1",
        "dimension 0: extent 10, lower 0, length 1, stride 0",
        "dimension 0: extent 10, lower 0, length 2, stride -1",
        past,
        past,
        past,
        past,
        past,
        "dimension 0: extent 10, lower 9223372036854775807, length 2, stride 9223372036854775807",
        past,
        large,
        large,
        past_1,
        past,
        past_1,
        "dimension 0: extent 10, lower 11, length 0, stride 1",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct rex_map map = {0};
        int result = rex_map_build(&map, NULL, push_rectangle, &wrong[i], NULL);
        if (result != REX_EINVAL)
            fail_msg("rectangle %zu: %d, %d rows", i, result, map.count);
        assert_int_equal(rex_last_error_code(), REX_EINVAL);
        assert_string_equal(rex_last_error(), says[i]);
    }
}

static int push_nothing(struct rex_map_builder *builder, void *element)
{
    (void)builder, (void)element;
    return REX_OK;
}

TEST(null_pointers)
{
    static char array[8];
    static const struct rex_dimension dimension = {8, 0, 1, 1};
    struct rex_map_builder builder = {0};
    for (int way = 0; way < 8; way++) {
        static const char *const says[] = {"rex_map_add_strided: the builder is NULL", "rex_map_add_strided: the array of dimensions is NULL",
                                           "rex_map_next_row: the builder is NULL",     "rex_map_add: the builder is NULL",
                                           "rex_map_add_mapped: the builder is NULL",   "rex_map_for_runtime: the handle is NULL",
                                           "rex_map_for_runtime: the mapper is NULL", "rex_map_build: the map is NULL"};
        const struct rex_row row = rex_row_of(array, array, 8, REX_MAP_TO);
        switch (way) {
        case 0: assert_int_equal(rex_map_add_strided(NULL, array, 1, &dimension, 1, REX_MAP_TO), REX_EINVAL); break;
        case 1: assert_int_equal(rex_map_add_strided(&builder, array, 1, NULL, 1, REX_MAP_TO), REX_EINVAL); break;
        case 2: assert_int_equal(rex_map_next_row(NULL), REX_EINVAL); break;
        case 3: assert_int_equal(rex_map_add(NULL, row), REX_EINVAL); break;
        case 4: assert_int_equal(rex_map_add_mapped(NULL, push_nothing, row, 1), REX_EINVAL); break;
        case 5: rex_map_for_runtime(push_nothing, 8, NULL, array, array, 8, REX_MAP_TO); break;
        case 6: rex_map_for_runtime(NULL, 8, &builder, array, array, 8, REX_MAP_TO); break;
        default: assert_int_equal(rex_map_build(NULL, NULL, NULL, NULL, NULL), REX_EINVAL);
        }
        assert_string_equal(rex_last_error(), says[way]);
        assert_int_equal(builder.row, 0);
    }
}

int before_tests(int argc, char **argv)
{
    setenv("REX_LOG", "off", 1);
    (void)argc, (void)argv;
    return -1;
}
