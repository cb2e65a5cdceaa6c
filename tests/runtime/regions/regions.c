/*
 * What lasts: data regions and every way out of them, beside other threads, and what is present meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <sched.h>

#include "runtime/checks.h"

REX_KERNEL(add);

enum {
    COUNT = 64
};

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

/* Adds on the device to what is mapped there; 0 or an error. */
static int add(int32_t *x, int64_t count, int32_t by, int64_t device)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    launch.device = device;
    REX_MAP(map, REX_VALUE(count), REX_VALUE(by), REX_ALLOC(x, count));
    return rex_launch(&launch, &map);
}

static void check_all(const int32_t *x, int64_t count, int32_t value)
{
    for (int64_t i = 0; i < count; i++)
        if (x[i] != value)
            fail_msg("value %d is %d, not %d", (int)i, x[i], value);
}

/* A region's array is 5 before, COUNT long, and has got 1 from the device when it is over. */
static int32_t x[COUNT];
static void before_region(void)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = 5;
}
static void after_region(void)
{
    check_all(x, COUNT, 6);
    assert_false(rex_target_is_present(x, sizeof x, -1));
}

/* ---- ways out of a region -------------------------------------------------------------------------------------------- */

enum way { TO_THE_END, BREAK, CONTINUE, GOTO, RETURN, WAYS };

/* Out of two regions. SPOILS: the end of the outer one fails, because the block spoils its map. */
static int leave(enum way way, bool spoils, struct rex_map *region, int *result)
{
    REX_MAP(inner, REX_TO(x, COUNT));
    REX_DATA_REGION_MAP(result, -1, *region) {
        assert_int_equal(*result, 0);
        *result = 42; /* the block's own, which an error replaces */
        region->sizes[0] = spoils ? -1 : region->sizes[0];
        REX_DATA_REGION_MAP(NULL, -1, inner) {
            assert_int_equal(add(x, COUNT, 1, -1), 0);
            check_all(x, COUNT, 5);
            if (way == GOTO)
                goto out;
            if (way == RETURN)
                return 17;
        }
        assert_true(rex_target_is_present(x, sizeof x, -1));
        if (way == BREAK)
            break;
        if (way == CONTINUE)
            continue;
    }
out:
    return 0;
}

TEST(ways_out)
{
    start();
    REX_MAP(region, REX_TOFROM(x, COUNT));
    for (enum way way = TO_THE_END; way < WAYS; way++)
        for (int spoils = 0; spoils < 2; spoils++) {
            int result = 1;
            before_region();
            assert_int_equal(leave(way, spoils, &region, &result), way == RETURN ? 17 : 0);
            assert_int_equal(result, spoils ? REX_EINVAL : 42);
            if (spoils) {
                assert_int_equal(rex_last_error_code(), REX_EINVAL);
                region.sizes[0] = sizeof x;
                assert_int_equal(rex_data_exit(-1, &region), 0);
            }
            after_region();
        }
}

/* ---- a part of an array ------------------------------------------------------------------------------------------------------ */

static int push_corner(struct rex_map_builder *builder, void *array)
{
    static const struct rex_dimension corner[] = {{4, 1, 2, 1}, {6, 0, 3, 1}};
    return rex_map_add_strided(builder, array, sizeof *x, corner, 2, REX_MAP_FROM);
}

TEST(corner_of_an_array)
{
    struct rex_map map;
    start();
    before_region();
    REX_MAP(region, REX_TO(x, COUNT));
    assert_int_equal(rex_map_build(&map, NULL, push_corner, x, NULL), 0);
    REX_DATA_REGION_MAP(NULL, -1, region) {
        assert_int_equal(add(x, COUNT, 1, -1), 0);
        assert_int_equal(rex_data_update(-1, &map), 0);
    }
    rex_map_free(&map);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(x[i], i / 6 >= 1 && i / 6 <= 2 && i % 6 < 3 ? 6 : 5);
}

/* ---- threads ------------------------------------------------------------------------------------------------------------ */

enum { LOOKERS = 3 };

static int is_over, at_work;

static void *look_up(void *unused)
{
    (void)unused;
    __atomic_fetch_add(&at_work, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        rex_mapped_ptr(x + 1, -1);
    return NULL;
}

static void map_raw(bool begins)
{
    void *base = x, *begin = x;
    int64_t size = sizeof x, type = REX_MAP_TOFROM;
    if (begins)
        __tgt_target_data_begin(-1, 1, &base, &begin, &size, &type);
    else
        __tgt_target_data_end(-1, 1, &base, &begin, &size, &type);
}

/* An end is the last, and copies back, also while other threads look for device addresses. */
TEST(looks_beside_ends)
{
    pthread_t looker[LOOKERS];
    start();
    for (int i = 0; i < LOOKERS; i++)
        assert_int_equal(pthread_create(&looker[i], NULL, look_up, NULL), 0);
    while (__atomic_load_n(&at_work, __ATOMIC_RELAXED) < LOOKERS)
        sched_yield();
    REX_MAP(region, REX_TOFROM(x, COUNT));
    for (int i = 0; i < rounds_of(5000); i++) {
        x[0] = 5;
        if (i % 2 == 0)
            assert_int_equal(rex_data_enter(-1, &region), 0);
        else
            map_raw(true);
        x[0] = 6;
        if (i % 2 == 0)
            assert_int_equal(rex_data_exit(-1, &region), 0);
        else
            map_raw(false);
        assert_int_equal(x[0], 5);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < LOOKERS; i++)
        pthread_join(looker[i], NULL);
    assert_false(rex_target_is_present(x, 1, -1));
}
