/*
 * Mappers: expanded by rex_map_add_mapped() and on the runtime's request, of structs with pointers and of structs that point to such structs;
 * what they leave behind on the device, which must be nothing; and mappers that are wrong. unit/map has the rows that they make.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>

#include "runtime/runtime.h"

#include "tree.h"

REX_KERNEL(leaves);
REX_KERNEL(branches);

enum {
    LEAVES = 5,
    BRANCHES = 4
};

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

/* ---- a small forest ---------------------------------------------------------------------------------------------------- */

/* Values of leaf I are 100 * I, 100 * I + 1, ... ; a leaf without values has no pointer. */
static void grow_leaf(struct leaf *leaf, int64_t i, int64_t count)
{
    leaf->count = count;
    leaf->sum = -1;
    leaf->values = count > 0 ? malloc((size_t)count * sizeof *leaf->values) : NULL;
    assert_true(count == 0 || leaf->values != NULL);
    for (int64_t k = 0; k < count; k++)
        leaf->values[k] = 100 * i + k;
}

static struct leaf *grow_leaves(int64_t count)
{
    struct leaf *leaf = calloc((size_t)(count > 0 ? count : 1), sizeof *leaf);
    assert_non_null(leaf);
    for (int64_t i = 0; i < count; i++)
        grow_leaf(&leaf[i], i, i % LEAVES);
    return leaf;
}

static void fell_leaves(struct leaf *leaf, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        free(leaf[i].values);
    free(leaf);
}

/* ROUNDS launches have been here, and their results have come back, or neither. */
static void check_leaves(const struct leaf *leaf, int64_t count, int64_t rounds)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t sum = 0;
        assert_int_equal(leaf[i].count, i % LEAVES);
        assert_true((leaf[i].values != NULL) == (leaf[i].count > 0));
        for (int64_t k = 0; k < leaf[i].count; k++) {
            assert_int_equal(leaf[i].values[k], 100 * i + k + rounds);
            sum += leaf[i].values[k];
        }
        assert_int_equal(leaf[i].sum, rounds > 0 ? sum : -1);
    }
}

static void check_leaves_absent(const struct leaf *leaf, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        assert_false(rex_target_is_present(&leaf[i], 1, -1));
        assert_false(rex_target_is_present(&leaf[i].values, 1, -1));
        assert_false(leaf[i].values != NULL && rex_target_is_present(leaf[i].values, 1, -1));
    }
}

static int launch_on(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    return rex_launch(&launch, map);
}

static void launch_leaves(struct leaf *leaf, int64_t count)
{
    REX_MAP(map, REX_VALUE(count), REX_ALLOC(leaf, count));
    assert_int_equal(launch_on(REX_KERNEL_ID(leaves), &map), 0);
}

/* ---- mappers ------------------------------------------------------------------------------------------------------------- */

/* An element and what it points to. */
static int map_leaf(struct rex_map_builder *builder, void *element)
{
    struct leaf *leaf = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *leaf));
    if (result == 0 && leaf->count > 0)
        result = rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, leaf->values, 0, leaf->count));
    return result;
}

/* The same, member by member, by their numbers. */
static int map_leaf_by_members(struct rex_map_builder *builder, void *element)
{
    struct leaf *leaf = element;
    int32_t parent = rex_map_next_row(builder);
    int result = rex_map_add(builder, REX_STRUCT(*leaf, count, sum));
    if (result == 0)
        result = rex_map_add(builder, REX_MEMBER(parent, REX_MAP_TOFROM, *leaf, count));
    if (result == 0)
        result = rex_map_add(builder, REX_MEMBER(parent, REX_MAP_TOFROM, *leaf, sum));
    if (result == 0 && leaf->count > 0)
        result = rex_map_add(builder, REX_MEMBER_POINTER(parent, REX_MAP_TOFROM, *leaf, values, 0, leaf->count));
    return result;
}

/* A member, and then the element whole: a row for what is mapped already does no harm. */
static int map_leaf_twice(struct rex_map_builder *builder, void *element)
{
    struct leaf *leaf = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, leaf->sum));
    return result == 0 ? map_leaf(builder, element) : result;
}

/* Leaves are a section of their own, through their own mapper. */
static int map_branch(struct rex_map_builder *builder, void *element)
{
    struct branch *branch = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *branch));
    if (result == 0 && branch->leaves > 0)
        result = rex_map_add_mapped(builder, map_leaf, REX_ATTACH(REX_MAP_TOFROM, branch->leaf, 0, branch->leaves), sizeof *branch->leaf);
    return result;
}

/* A section and the mapper that it goes through. */
struct section {
    rex_mapper *mapper;
    struct rex_row row;
    int64_t element_size;
};

static int push_section(struct rex_map_builder *builder, void *context)
{
    const struct section *section = context;
    return rex_map_add_mapped(builder, section->mapper, section->row, section->element_size);
}

static struct rex_map build(rex_mapper *mapper, struct rex_row row, size_t element_size)
{
    struct section section = {mapper, row, (int64_t)element_size};
    struct rex_map map;
    assert_int_equal(rex_map_build(&map, NULL, push_section, &section, NULL), 0);
    return map;
}

static struct rex_map build_leaves(rex_mapper *mapper, int64_t type, struct leaf *leaf, int64_t count)
{
    return build(mapper, REX_SECTION(type, leaf, 0, count), sizeof *leaf);
}

/* ---- of the runtime's kind ---------------------------------------------------------------------------------------------------- */

REX_RUNTIME_MAPPER(runtime_leaf, map_leaf, struct leaf)
REX_RUNTIME_MAPPER(runtime_branch, map_branch, struct branch)

typedef void mapper_function(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name);
static void *address_of(mapper_function *function)
{
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

/* ---- expanded -------------------------------------------------------------------------------------------------------------- */

static void run_region(struct rex_map *map, struct leaf *leaf, int64_t count, int64_t after)
{
    REX_DATA_REGION_MAP(NULL, -1, *map) {
        launch_leaves(leaf, count);
        launch_leaves(leaf, count);
    }
    check_leaves(leaf, count, after);
    check_leaves_absent(leaf, count);
}

static void run_expanded(rex_mapper *mapper, int64_t type, struct leaf *leaf, int64_t count, int64_t after)
{
    struct rex_map map = build_leaves(mapper, type, leaf, count);
    run_region(&map, leaf, count, after);
    rex_map_free(&map);
}

TEST(expansion_in_regions)
{
    static rex_mapper *const mappers[] = {map_leaf, map_leaf_by_members};
    struct leaf *leaf = grow_leaves(11);
    int64_t rounds = 0;
    start();
    for (int i = 0; i < 4; i++) {
        run_expanded(mappers[i % 2], REX_MAP_TO, leaf, 11, rounds);
        run_expanded(mappers[i % 2], REX_MAP_TOFROM, leaf, 11, rounds + 2);
        rounds += 2;
    }
    fell_leaves(leaf, 11);
    leaf = grow_leaves(1);
    run_expanded(map_leaf, REX_MAP_TO, leaf, 1, 0);
    run_expanded(map_leaf, REX_MAP_TOFROM, leaf, 1, 2);
    fell_leaves(leaf, 1);
}

/* As a launch's own arguments, a row before it: two parameters, however many rows. */
TEST(expansion_in_launches)
{
    struct leaf *leaf = grow_leaves(9);
    struct section section = {map_leaf, REX_TOFROM(leaf, 9), sizeof *leaf};
    struct rex_map map;
    start();
    REX_MAP(count, REX_VALUE(INT64_C(9)));
    assert_int_equal(rex_map_build(&map, &count, push_section, &section, NULL), 0);
    for (int64_t rounds = 1; rounds < 4; rounds++) {
        assert_int_equal(launch_on(REX_KERNEL_ID(leaves), &map), 0);
        check_leaves(leaf, 9, rounds);
        check_leaves_absent(leaf, 9);
    }
    rex_map_free(&map);
    fell_leaves(leaf, 9);
}

/* Branches share one array of leaves, as the host sees it; the device has as many as there are branches. */
TEST(nested_mappers)
{
    void *mapper = address_of(runtime_branch);
    start();
    for (int of_runtime = 0; of_runtime < 2; of_runtime++) {
        struct branch branch[BRANCHES] = {0};
        for (int64_t i = 0; i < BRANCHES; i++)
            branch[i] = (struct branch){3 * i, grow_leaves(3 * i), 0};
        REX_MAP(row, REX_TOFROM(branch, BRANCHES));
        row.mappers = &mapper;
        struct rex_map built = build(map_branch, REX_TOFROM(branch, BRANCHES), sizeof *branch);
        REX_DATA_REGION_MAP(NULL, -1, *(of_runtime ? &row : &built)) {
            REX_MAP(arguments, REX_VALUE(INT64_C(4)), REX_ALLOC(branch, BRANCHES));
            for (int i = 0; i < 3; i++)
                assert_int_equal(launch_on(REX_KERNEL_ID(branches), &arguments), 0);
        }
        rex_map_free(&built);
        for (int64_t i = 0; i < BRANCHES; i++) {
            assert_int_equal(branch[i].visits, 3);
            check_leaves(branch[i].leaf, 3 * i, 3);
            check_leaves_absent(branch[i].leaf, 3 * i);
            assert_false(rex_target_is_present(&branch[i], 1, -1));
            fell_leaves(branch[i].leaf, 3 * i);
        }
    }
}

/* More rows than a member can number its parent by: those after the last one that can be named are members, too. */
TEST(very_many_elements)
{
    int64_t count = REX_PARENT_MAX / 2 + 1;
    struct leaf *leaf = calloc((size_t)count, sizeof *leaf), *last = leaf + count - 1;
    assert_non_null(leaf);
    grow_leaf(last, 1, 3);
    start();
    struct rex_map map = build_leaves(map_leaf_twice, REX_MAP_TOFROM, leaf, count);
    assert_true(map.count > REX_PARENT_MAX + 1);
    REX_DATA_REGION_MAP(NULL, -1, map)
        launch_leaves(leaf, count);
    rex_map_free(&map);
    assert_true(last->values[0] == 101 && last->values[1] == 102 && last->values[2] == 103);
    assert_int_equal(last->sum, 101 + 102 + 103);
    check_leaves_absent(last, 1);
    fell_leaves(leaf, count);
}

/* ---- on the runtime's request ------------------------------------------------------------------------------------------------ */

TEST(runtime_kind)
{
    struct leaf *leaf = grow_leaves(11);
    void *mapper = address_of(runtime_leaf);
    int64_t n = 11;
    start();
    REX_MAP(to, REX_TO(leaf, n));
    REX_MAP(tofrom, REX_TOFROM(leaf, n));
    REX_MAP(from, REX_FROM(leaf, n));
    to.mappers = tofrom.mappers = from.mappers = &mapper;
    run_region(&to, leaf, n, 0);
    for (int i = 1; i < 4; i++)
        run_region(&tofrom, leaf, n, 2 * i);
    REX_DATA_REGION_MAP(NULL, -1, to) {
        launch_leaves(leaf, n);
        assert_int_equal(rex_data_update(-1, &from), 0);
        check_leaves(leaf, n, 7);
    }
    check_leaves_absent(leaf, n);
    fell_leaves(leaf, n);
}

/* An error in a mapper that the runtime called: recorded, and the program goes on. */
static int half_a_mapper(struct rex_map_builder *builder, void *element)
{
    struct leaf *leaf = element;
    return leaf->count == 3 ? REX_ENOMEM : map_leaf(builder, element);
}
REX_RUNTIME_MAPPER(runtime_half, half_a_mapper, struct leaf)
REX_RUNTIME_MAPPER(runtime_misfit, map_leaf, char[7])

TEST(runtime_kind_with_errors)
{
    struct leaf *leaf = grow_leaves(5);
    void *half = address_of(runtime_half), *misfit = address_of(runtime_misfit);
    start();
    REX_MAP(region, REX_TO(leaf, 5));
    region.mappers = &half;
    REX_DATA_REGION_MAP(NULL, -1, region) {
        assert_int_equal(rex_last_error_code(), REX_ENOMEM);
    }
    check_leaves_absent(leaf, 5);
    region.mappers = &misfit;
    REX_DATA_REGION_MAP(NULL, -1, region) {
    }
    assert_int_equal(rex_last_error_code(), REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "not a whole number of elements"));
    check_leaves_absent(leaf, 5);
    fell_leaves(leaf, 5);
}

/* An error that the mapper alone returns replaces an older error of the same number; without an error the older one stays. */
static int refuse_all(struct rex_map_builder *builder, void *element)
{
    (void)builder, (void)element;
    return REX_EINVAL;
}
REX_RUNTIME_MAPPER(runtime_refusing, refuse_all, struct leaf)

TEST(runtime_kind_with_an_older_error)
{
    struct leaf *leaf = grow_leaves(2);
    void *right = address_of(runtime_leaf), *refusing = address_of(runtime_refusing);
    start();
    REX_MAP(region, REX_TO(leaf, 2));
    assert_int_equal(rex_data_enter(-1, NULL), REX_EINVAL);
    region.mappers = &right;
    REX_DATA_REGION_MAP(NULL, -1, region) {
    }
    assert_non_null(strstr(rex_last_error(), "NULL"));
    region.mappers = &refusing;
    REX_DATA_REGION_MAP(NULL, -1, region) {
    }
    assert_int_equal(rex_last_error_code(), REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "the mapper for the section of "));
    check_leaves_absent(leaf, 2);
    fell_leaves(leaf, 2);
}

/* Memory at NULL would be copied from there. */
TEST(runtime_kind_with_null)
{
    struct leaf leaf[2] = {{.count = 4}, {.count = 4}};
    void *mapper = address_of(runtime_leaf);
    start();
    REX_MAP(region, REX_TOFROM(leaf, 2));
    region.mappers = &mapper;
    REX_DATA_REGION_MAP(NULL, -1, region)
        assert_true(rex_target_is_present(leaf, sizeof *leaf, -1));
    assert_int_equal(rex_last_error_code(), REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "a mapper maps NULL"));
    check_leaves_absent(leaf, 2);
}
