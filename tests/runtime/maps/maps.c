/*
 * Every row macro of rex/map.h: what it puts into the four columns, and what a kernel then does on the real runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdbool.h>

#include "runtime/runtime.h"

#include "shapes.h"

REX_KERNEL(add);
REX_KERNEL(copy);
REX_KERNEL(words);
REX_KERNEL(more_words);
REX_KERNEL(address);
REX_KERNEL(own);
REX_KERNEL(members);
REX_KERNEL(chain);
REX_KERNEL(pointees);

enum {
    COUNT = 16
};

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

static int launch_of(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    return rex_launch(&launch, map);
}
#define LAUNCH(name, map) assert_int_equal(launch_of(REX_KERNEL_ID(name), &(map)), 0)

static void fill(int64_t *values, int64_t first)
{
    for (int64_t i = 0; i < COUNT; i++)
        values[i] = first + i;
}

static void check_values(const int64_t *values, int64_t lower, int64_t end, int64_t first)
{
    for (int64_t i = lower; i < end; i++)
        if (values[i] != first + i)
            fail_msg("value %d is %lld, not %lld", (int)i, (long long)values[i], (long long)(first + i));
}

#define ROW(map, row, base_, begin_, size_, type_)                                                                     \
    do {                                                                                                               \
        assert_ptr_equal((map).base[row], (base_));                                                                    \
        assert_ptr_equal((map).begin[row], (begin_));                                                                  \
        assert_int_equal((map).sizes[row], (size_));                                                                   \
        assert_int_equal((map).types[row], (type_));                                                                   \
    } while (0)

/* ---- columns -------------------------------------------------------------------------------------------------------- */

TEST(columns_of_memory)
{
    static int32_t array[COUNT];
    int32_t *pointer = array, one = 1;
    REX_MAP(map, REX_TO(array, 4), REX_FROM(pointer, 5), REX_TOFROM(pointer, 6), REX_ALLOC(pointer, 7), REX_RELEASE(pointer, 8),
            REX_DELETE(pointer, 9), REX_SECTION(REX_MAP_TO, array, 3, 2), REX_OBJECT(REX_MAP_FROM, one),
            REX_OBJECT(REX_MAP_TO, array), REX_POINTER(pointer));
    assert_int_equal(map.count, 10);
    ROW(map, 0, array, array, 16, 0x21);
    ROW(map, 1, array, array, 20, 0x22);
    ROW(map, 2, array, array, 24, 0x23);
    ROW(map, 3, array, array, 28, 0x20);
    ROW(map, 4, array, array, 32, 0x20);
    ROW(map, 5, array, array, 36, 0x28);
    ROW(map, 6, array, array + 3, 8, 0x21);
    ROW(map, 7, &one, &one, 4, 0x22);
    ROW(map, 8, array, array, sizeof array, 0x21);
    ROW(map, 9, array, array, 0, 0x220);
    assert_null(map.mappers);
    rex_map_free(&map); /* which is no allocation */
    assert_int_equal(map.count, 10);

    REX_MAP(modified, REX_ALWAYS(REX_TO(array, 1)), REX_CLOSE(REX_TO(array, 1)), REX_PRESENT(REX_ALLOC(array, 1)),
               REX_HOLD(REX_TOFROM(array, 1)), REX_IMPLICIT(REX_TOFROM(array, 1)));
    ROW(modified, 0, array, array, 4, 0x25);
    ROW(modified, 1, array, array, 4, 0x421);
    ROW(modified, 2, array, array, 4, 0x1020);
    ROW(modified, 3, array, array, 4, 0x2023);
    ROW(modified, 4, array, array, 4, 0x223);

    REX_MAP(region, REX_TO(array, 1), REX_USE_DEVICE_PTR(pointer), REX_RETURN(REX_ALLOC(array, 2)));
    ROW(region, 0, array, array, 4, 0x21);
    ROW(region, 1, array, array, 0, 0x40);
    ROW(region, 2, array, array, 8, 0x60);
}

TEST(columns_of_structs)
{
    static int64_t values[COUNT];
    struct inner next = {0, values};
    struct outer s = {.inner = {COUNT, values}, .next = &next};
    REX_MAP(map, REX_STRUCT(s, bonus, next), REX_MEMBER(0, REX_MAP_TO, s, bonus),
            REX_MEMBER_POINTER(0, REX_MAP_TOFROM, s, inner.values, 2, 3), REX_ATTACH(REX_MAP_TO, s.next, 0, 1));
    ROW(map, 0, &s, &s.bonus, offsetof(struct outer, untouched_after) - offsetof(struct outer, bonus), 0x20);
    ROW(map, 1, &s, &s.bonus, 8, (int64_t)1 << 48 | 0x1);
    ROW(map, 2, &s.inner.values, values + 2, 24, (int64_t)1 << 48 | 0x13);
    ROW(map, 3, &s.next, &next, sizeof next, 0x31);
}

/* A literal is in base and begin: an integer with a sign as 8 bytes, of all else the unused bytes are 0. */
static void check_literal(const struct rex_map *map, int32_t row, uint64_t bits, int64_t size)
{
    assert_ptr_equal(map->base[row], map->begin[row]);
    assert_true((uint64_t)(uintptr_t)map->base[row] == bits);
    assert_int_equal(map->sizes[row], size);
    assert_int_equal(map->types[row] & ~REX_MAP_KIND_MASK, 0x120);
}

TEST(columns_of_values)
{
    const char pattern[] = {1, 2, 3};
    struct three {
        char byte[3];
    } three;
    memcpy(&three, pattern, sizeof three);
    REX_MAP(map, REX_VALUE((int8_t)-2), REX_VALUE((uint16_t)0xfffe), REX_VALUE(-2), REX_VALUE(INT64_C(-2)), REX_VALUE(1.0f),
            REX_VALUE(1.0), REX_VALUE((bool)1), REX_VALUE(three), REX_VALUE((void *)&three), REX_IS_DEVICE_PTR(&three));
    check_literal(&map, 0, UINT64_C(0xfffffffffffffffe), 1);
    check_literal(&map, 1, 0xfffe, 2);
    check_literal(&map, 2, UINT64_C(0xfffffffffffffffe), 4);
    check_literal(&map, 3, UINT64_C(0xfffffffffffffffe), 8);
    check_literal(&map, 4, 0x3f800000, 4);
    check_literal(&map, 5, UINT64_C(0x3ff0000000000000), 8);
    check_literal(&map, 6, 1, 1);
    check_literal(&map, 7, 0x030201, 3);
    check_literal(&map, 8, (uintptr_t)&three, 8);
    check_literal(&map, 9, (uintptr_t)&three, 8);
}

/* Each expression of a row counts how often it is evaluated. */
static int evaluations;
static int64_t counted(int64_t value)
{
    evaluations++;
    return value;
}
static int64_t *counted_pointer(int64_t *pointer)
{
    evaluations++;
    return pointer;
}
static struct outer *counted_outer(struct outer *outer)
{
    evaluations++;
    return outer;
}
#define EVALUATED(times, row)                                                                                          \
    do {                                                                                                               \
        evaluations = 0;                                                                                               \
        REX_MAP(map, row);                                                                                             \
        assert_int_equal(map.count, 1);                                                                                \
        assert_int_equal(evaluations, (times));                                                                        \
    } while (0)

TEST(expressions_are_evaluated_once)
{
    static int64_t x[COUNT];
    struct outer s = {.inner = {COUNT, x}};
    EVALUATED(1, REX_VALUE(counted(7)));
    EVALUATED(1, REX_VALUE((char)counted(7)));
    EVALUATED(2, REX_TO(counted_pointer(x), counted(3)));
    EVALUATED(2, REX_FROM(counted_pointer(x), counted(3)));
    EVALUATED(2, REX_TOFROM(counted_pointer(x), counted(3)));
    EVALUATED(2, REX_ALLOC(counted_pointer(x), counted(3)));
    EVALUATED(2, REX_RELEASE(counted_pointer(x), counted(3)));
    EVALUATED(2, REX_DELETE(counted_pointer(x), counted(3)));
    EVALUATED(4, REX_SECTION(counted(0), counted_pointer(x), counted(1), counted(2)));
    EVALUATED(2, REX_OBJECT(counted(0), *counted_pointer(x)));
    EVALUATED(1, REX_POINTER(counted_pointer(x)));
    EVALUATED(1, REX_IS_DEVICE_PTR(counted_pointer(x)));
    EVALUATED(1, REX_FIRSTPRIVATE(*counted_pointer(x)));
    EVALUATED(1, REX_PRIVATE(*counted_pointer(x)));
    EVALUATED(1, REX_USE_DEVICE_PTR(counted_pointer(x)));
    EVALUATED(2, REX_RETURN(REX_TO(counted_pointer(x), counted(1))));
    EVALUATED(1, REX_STRUCT(*counted_outer(&s), bonus, next));
    EVALUATED(3, REX_MEMBER(counted(0) != 0, counted(0), *counted_outer(&s), bonus));
    EVALUATED(5, REX_MEMBER_POINTER(counted(0) != 0, counted(0), *counted_outer(&s), inner.values, counted(0), counted(1)));
    EVALUATED(3, REX_ATTACH(REX_MAP_TO, counted_outer(&s)->inner.values, counted(0), counted(1)));
    EVALUATED(2, REX_ALWAYS(REX_CLOSE(REX_HOLD(REX_TO(counted_pointer(x), counted(1))))));
}

/* C leaves the order open; gcc and clang go from left to right. */
TEST(rows_are_evaluated_in_order)
{
    evaluations = 0;
    REX_MAP(map, REX_VALUE(counted(evaluations)), REX_VALUE(counted(evaluations)), REX_VALUE(counted(evaluations)));
    for (int i = 0; i < 3; i++)
        assert_int_equal((int64_t)(intptr_t)map.base[i], i);
    assert_int_equal(evaluations, 3);
}

#define TEN_VALUES(n)                                                                                                  \
    REX_VALUE(n + 0), REX_VALUE(n + 1), REX_VALUE(n + 2), REX_VALUE(n + 3), REX_VALUE(n + 4), REX_VALUE(n + 5),        \
        REX_VALUE(n + 6), REX_VALUE(n + 7), REX_VALUE(n + 8), REX_VALUE(n + 9)

TEST(many_rows)
{
    REX_MAP(map, TEN_VALUES(0), TEN_VALUES(10), TEN_VALUES(20), TEN_VALUES(30), TEN_VALUES(40), TEN_VALUES(50), REX_VALUE(60),
            REX_VALUE(61), REX_VALUE(62), REX_VALUE(63));
    assert_int_equal(map.count, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal((int64_t)(intptr_t)map.begin[i], i);
    REX_MAP(more, TEN_VALUES(0), TEN_VALUES(10), TEN_VALUES(20), TEN_VALUES(30), TEN_VALUES(40), TEN_VALUES(50), TEN_VALUES(60));
    assert_int_equal(more.count, 70);
    assert_int_equal((int64_t)(intptr_t)more.begin[69], 69);
}

/* ---- memory ----------------------------------------------------------------------------------------------------------- */

TEST(to_from_tofrom_alloc)
{
    int64_t x[COUNT], y[COUNT], n = COUNT;
    start();
    fill(x, 100);
    REX_MAP(to, REX_VALUE(INT64_C(0)), REX_VALUE(n), REX_VALUE(INT64_C(5)), REX_TO(x, n));
    LAUNCH(add, to);
    check_values(x, 0, n, 100);

    REX_MAP(tofrom, REX_VALUE(INT64_C(0)), REX_VALUE(n), REX_VALUE(INT64_C(5)), REX_TOFROM(x, n));
    LAUNCH(add, tofrom);
    check_values(x, 0, n, 105);

    fill(y, 0);
    REX_MAP(from, REX_VALUE(n), REX_TO(x, n), REX_FROM(y, n));
    LAUNCH(copy, from);
    check_values(y, 0, n, 105);

    fill(y, 0);
    REX_MAP(alloc, REX_VALUE(n), REX_TO(x, n), REX_ALLOC(y, n));
    LAUNCH(copy, alloc);
    check_values(y, 0, n, 0);
    assert_false(rex_target_is_present(x, sizeof x, -1));
    assert_false(rex_target_is_present(y, sizeof y, -1));
}

TEST(always_copies)
{
    int64_t x[COUNT], y[COUNT], n = COUNT;
    start();
    fill(x, 0);
    REX_MAP(region, REX_TO(x, n));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        REX_MAP(quiet, REX_VALUE(INT64_C(0)), REX_VALUE(n), REX_VALUE(INT64_C(1)), REX_TOFROM(x, n));
        REX_MAP(always, REX_VALUE(INT64_C(0)), REX_VALUE(n), REX_VALUE(INT64_C(1)), REX_ALWAYS(REX_TOFROM(x, n)));
        fill(x, 1000);
        LAUNCH(add, quiet);
        check_values(x, 0, n, 1000);
        /* Launches alike are sent in another way after some. */
        for (int i = 0; i < 70; i++) {
            fill(x, i);
            LAUNCH(add, always);
            check_values(x, 0, n, i + 1);
            fill(x, i);
            REX_MAP(both, REX_VALUE(n), REX_ALWAYS(REX_TO(x, n)), REX_FROM(y, n));
            LAUNCH(copy, both);
            check_values(y, 0, n, i);
        }
    }
}

TEST(hold_outlives_delete)
{
    int64_t x[COUNT], n = COUNT;
    start();
    REX_MAP(held, REX_HOLD(REX_TO(x, n)));
    REX_MAP(plain, REX_TO(x, n));
    REX_MAP(delete, REX_DELETE(x, n));
    REX_DATA_REGION_MAP(NULL, -1, held) {
        assert_int_equal(rex_data_enter(-1, &plain), 0);
        assert_int_equal(rex_data_enter(-1, &plain), 0);
        assert_int_equal(rex_data_exit(-1, &delete), 0);
        assert_true(rex_target_is_present(x, sizeof x, -1));
    }
    assert_false(rex_target_is_present(x, sizeof x, -1));

    assert_int_equal(rex_data_enter(-1, &plain), 0);
    assert_int_equal(rex_data_enter(-1, &plain), 0);
    assert_int_equal(rex_data_exit(-1, &delete), 0);
    assert_false(rex_target_is_present(x, sizeof x, -1));
}

/* The kernel indexes from the base, as the host does, and only the section is copied. */
TEST(sections_with_a_lower_bound)
{
    int64_t x[COUNT];
    start();
    fill(x, 0);
    REX_MAP(section, REX_VALUE(INT64_C(5)), REX_VALUE(INT64_C(9)), REX_VALUE(INT64_C(100)), REX_SECTION(REX_MAP_TOFROM, x, 5, 4));
    LAUNCH(add, section);
    check_values(x, 0, 5, 0);
    check_values(x, 5, 9, 100);
    check_values(x, 9, COUNT, 0);

    /* In a region the same part may be named from another base. */
    REX_MAP(region, REX_SECTION(REX_MAP_TOFROM, x, 5, 4));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        REX_MAP(part, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(3)), REX_VALUE(INT64_C(1000)), REX_ALLOC(x + 5, 3));
        LAUNCH(add, part);
    }
    check_values(x, 5, 6, 100);
    check_values(x, 6, 8, 1100);
    check_values(x, 8, 9, 100);
}

static uint64_t address_at_kernel(struct rex_row row)
{
    uint64_t address = 1;
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, address), row);
    LAUNCH(address, map);
    return address;
}

TEST(sections_of_no_length)
{
    /* A GPU may be given its address. */
    int64_t *x = rex_host_alloc(COUNT * sizeof *x);
    assert_non_null(x);
    start();
    uint64_t absent = address_at_kernel(REX_POINTER(x));
    assert_true(absent == (rex_runtime_release() >= 16 ? (uint64_t)(uintptr_t)x : 0));
    address_at_kernel(REX_TO(x, 0));
    assert_false(rex_target_is_present(x, 1, -1));

    REX_MAP(region, REX_TO(x, COUNT));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        uint64_t device = (uint64_t)(uintptr_t)rex_mapped_ptr(x, -1);
        assert_true(device != 0);
        assert_true(address_at_kernel(REX_POINTER(x)) == device);
        assert_true(address_at_kernel(REX_POINTER(x + 3)) == device + 3 * sizeof *x);
        assert_true(address_at_kernel(REX_TO(x, 0)) == device);
    }
    assert_false(rex_target_is_present(x, 1, -1));
    assert_int_equal(rex_host_free(x), 0);
}

/* On a GPU a row that is the launch's own lies as an object of its size may have to. */
TEST(aligned_rows, .gpu = ON_GPU)
{
    enum { APART = 16 };
    static char memory[APART + 5000];
    start();
    memory[0] = 1;
    memory[APART] = 2;
    for (size_t size = 1; size <= 5000; size = 3 * size + 1)
        for (size_t before = 1; before <= 3; before += 2) {
            uint64_t address = 1, align = size <= 16 ? 16 : size <= 128 ? 64 : 512;
            REX_MAP(map, REX_OBJECT(REX_MAP_FROM, address), REX_TOFROM(memory + APART, size),
                    REX_NO_PARAM(REX_TOFROM(memory, before)));
            LAUNCH(address, map);
            assert_int_equal(address % align, 0);
            assert_true(memory[0] == 1 && memory[APART] == 2);
        }
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

TEST(values_arrive)
{
    uint64_t to[VALUES];
    struct pair pair = {-300, 200}, back;
    struct full full = {-7, 2.5f}, full_back;
    float single = -1.25f, single_back;
    double twice = 1e300, twice_back;
    int64_t *nowhere = (int64_t *)(uintptr_t)4096;
    start();
    REX_MAP(map, REX_FROM(to, VALUES), REX_VALUE((int8_t)-100), REX_VALUE((int16_t)-30000), REX_VALUE(-2000000000),
            REX_VALUE(INT64_MIN + 3), REX_VALUE(single), REX_VALUE(twice), REX_VALUE(pair), REX_VALUE(full));
    LAUNCH(words, map);
    assert_true((int64_t)to[0] == -100);
    assert_true((int64_t)to[1] == -30000);
    assert_true((int64_t)to[2] == -2000000000);
    assert_true((int64_t)to[3] == INT64_MIN + 3);
    memcpy(&single_back, &to[4], sizeof single_back);
    memcpy(&twice_back, &to[5], sizeof twice_back);
    memcpy(&back, &to[6], sizeof back);
    memcpy(&full_back, &to[7], sizeof full_back);
    assert_true(single_back == single && to[4] >> 32 == 0);
    assert_true(twice_back == twice);
    assert_true(back.first == pair.first && back.second == pair.second);
    assert_true(full_back.first == full.first && full_back.second == full.second);

    REX_MAP(more, REX_FROM(to, VALUES), REX_VALUE((bool)true), REX_VALUE((bool)false), REX_VALUE('x'), REX_VALUE(UINT64_MAX),
            REX_VALUE((uint8_t)255), REX_VALUE((void *)nowhere), REX_VALUE((float)0), REX_IS_DEVICE_PTR(nowhere + 1));
    LAUNCH(more_words, more);
    assert_true(to[0] == 1 && to[1] == 0 && to[2] == 'x' && to[3] == UINT64_MAX && to[4] == 255);
    assert_true(to[5] == 4096 && to[6] == 0 && to[7] == 4096 + sizeof *nowhere);
}

TEST(private_memory)
{
    static struct big large;
    struct full small = {5, 3.0f};
    int64_t scratch[2] = {77, 78}, sum = 0, expected = 8;
    start();
    for (int i = 0; i < 200; i++)
        expected += large.number[i] = i * i;
    REX_MAP(map, REX_FIRSTPRIVATE(small), REX_FIRSTPRIVATE(large), REX_PRIVATE(scratch), REX_OBJECT(REX_MAP_FROM, sum));
    for (int i = 0; i < 2; i++) {
        sum = 0;
        LAUNCH(own, map);
        assert_int_equal(sum, expected);
        assert_true(small.first == 5 && large.number[0] == 0 && scratch[0] == 77 && scratch[1] == 78);
    }
}

/* ---- addresses ------------------------------------------------------------------------------------------------------------ */

TEST(device_addresses_come_back)
{
    int64_t x[COUNT], y[COUNT], n = COUNT;
    start();
    fill(x, 10);
    fill(y, 20);
    REX_MAP(region, REX_TOFROM(x, n), REX_USE_DEVICE_PTR(x), REX_RETURN(REX_TOFROM(y, n)),
                 REX_RETURN(REX_SECTION(REX_MAP_ALLOC, x, 4, 2)));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        int64_t *device_x = rex_map_address(&region, 1), *device_y = rex_map_address(&region, 2);
        assert_ptr_equal(device_x, rex_mapped_ptr(x, -1));
        assert_ptr_equal(device_y, rex_mapped_ptr(y, -1));
        assert_ptr_equal(rex_map_address(&region, 3), device_x);
        REX_MAP(map, REX_VALUE(n), REX_IS_DEVICE_PTR(device_x), REX_IS_DEVICE_PTR(device_y));
        LAUNCH(copy, map);
    }
    check_values(y, 0, n, 10);
    assert_false(rex_target_is_present(x, 1, -1));
    assert_false(rex_target_is_present(y, 1, -1));
}

/* A map whose rows were written over is begun again, ended or not, and another may take its place. */
TEST(device_addresses_come_back_again)
{
    int64_t x[COUNT], y[COUNT];
    start();
    REX_MAP(region, REX_RETURN(REX_TOFROM(x, COUNT)), REX_RETURN(REX_SECTION(REX_MAP_ALLOC, y, 4, 2)), REX_USE_DEVICE_PTR(x));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rex_data_enter(-1, &region), 0);
        if (i == 1) /* a second time within */
            assert_int_equal(rex_data_enter(-1, &region), 0);
        assert_ptr_equal(rex_map_address(&region, 0), rex_mapped_ptr(x, -1));
        assert_ptr_equal(rex_map_address(&region, 1), (char *)rex_mapped_ptr(&y[4], -1) - 4 * sizeof *y);
        assert_ptr_equal(rex_map_address(&region, 2), rex_mapped_ptr(x, -1));
        assert_int_equal(rex_data_exit(-1, &region), 0);
        if (i == 1)
            assert_int_equal(rex_data_exit(-1, &region), 0);
        ROW(region, 0, x, x, sizeof x, 0x63);
        ROW(region, 1, y, &y[4], 2 * sizeof *y, 0x60);
        ROW(region, 2, x, x, 0, 0x40);
    }
    assert_false(rex_target_is_present(x, 1, -1));
    /* The column's place is used again, for bases that nobody has written. */
    assert_int_equal(rex_data_enter(-1, &region), 0);
    region.base[0] = region.begin[0] = y;
    region.sizes[0] = 8;
    region.base[1] = y;
    region.base[2] = region.begin[2] = y;
    assert_int_equal(rex_data_enter(-1, &region), 0);
    assert_ptr_equal(rex_map_address(&region, 0), rex_mapped_ptr(y, -1));
    assert_int_equal(rex_data_exit(-1, &region), 0);
    ROW(region, 0, y, y, 8, 0x63);
}

/* ---- structs ---------------------------------------------------------------------------------------------------------------- */

TEST(struct_members)
{
    int64_t values[COUNT];
    struct outer s = {1, 10, {COUNT, values}, NULL, 2};
    start();
    fill(values, 0);
    REX_MAP(map, REX_STRUCT(s, bonus, inner), REX_MEMBER(0, REX_MAP_TOFROM, s, bonus), REX_MEMBER(0, REX_MAP_TO, s, inner.count),
            REX_MEMBER_POINTER(0, REX_MAP_TOFROM, s, inner.values, 0, COUNT));
    for (int64_t i = 0; i < 2; i++) {
        LAUNCH(members, map);
        check_values(values, 0, COUNT, i == 0 ? 10 : 21);
        assert_int_equal(s.bonus, 11 + i);
        assert_ptr_equal(s.inner.values, values);
        assert_true(s.untouched_before == 1 && s.untouched_after == 2 && s.inner.count == COUNT);
        assert_false(rex_target_is_present(&s.bonus, 1, -1));
        assert_false(rex_target_is_present(values, 1, -1));
    }
}

/* What a member points to points on. */
TEST(pointers_behind_pointers)
{
    int64_t values[COUNT];
    struct inner next = {COUNT, values};
    struct outer s = {.next = &next};
    start();
    for (int64_t i = 0; i < COUNT; i++)
        values[i] = i;
    REX_MAP(map, REX_OBJECT(REX_MAP_TO, s), REX_MEMBER_POINTER(0, REX_MAP_TO, s, next, 0, 1),
            REX_MEMBER_POINTER(1, REX_MAP_TOFROM, *s.next, values, 0, COUNT));
    LAUNCH(chain, map);
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(values[i], 3 * i);
    assert_ptr_equal(next.values, values);
    assert_false(rex_target_is_present(&s, 1, -1));
    assert_false(rex_target_is_present(&next, 1, -1));
    assert_false(rex_target_is_present(values, 1, -1));
}

TEST(pointees_with_a_lower_bound)
{
    int64_t x[COUNT], y[COUNT], *first = x, *second = y;
    start();
    fill(x, 0);
    fill(y, 0);
    REX_MAP(map, REX_ALLOC(&first, 1), rex_row_member(REX_ATTACH(REX_MAP_TOFROM, first, 0, 1), 0), REX_ALLOC(&second, 1),
            rex_row_member(REX_ATTACH(REX_MAP_TOFROM, second, 2, 2), 2));
    LAUNCH(pointees, map);
    assert_false(rex_target_is_present(x, 1, -1) || rex_target_is_present(&y[2], 1, -1));
    assert_false(rex_target_is_present(&first, 1, -1) || rex_target_is_present(&second, 1, -1));
    assert_true(x[0] == 1 && x[1] == 1 && y[2] == 4 && y[3] == 3);
    assert_ptr_equal(first, x);
    assert_ptr_equal(second, y);
}

/* ---- what is refused ---------------------------------------------------------------------------------------------------------- */

static void check_refused(struct rex_row row, const char *why)
{
    REX_MAP(map, row);
    int result = launch_of(REX_KERNEL_ID(add), &map);
    if (result != REX_EINVAL || strstr(rex_last_error(), why) == NULL)
        fail_msg("%s for a row that %s: %s", rex_error_name(result), why, rex_last_error());
}

/* What a size in bytes cannot say is no smaller row. */
TEST(rows_that_no_release_takes)
{
    int64_t x[COUNT];
    start();
    check_refused(REX_TO(x, INT64_MAX / (int64_t)sizeof *x + 1), "negative size");
    check_refused(REX_TO(x, (UINT64_MAX / sizeof *x) + 2), "negative size"); /* one element, if the product wrapped */
}
