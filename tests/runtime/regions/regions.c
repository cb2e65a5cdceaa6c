/*
 * What lasts: data regions and every way out of them, enter and exit data, updates of all and of parts, presence; and what is
 * refused because libomptarget would abort or say nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <sched.h>

#include "runtime/runtime.h"

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

/* ---- updates -------------------------------------------------------------------------------------------------------------- */

TEST(updates_of_what_is_not_there)
{
    static int32_t y[COUNT];
    start();
    before_region();
    REX_MAP(both, REX_FROM(y, COUNT), REX_FROM(x, COUNT));
    REX_MAP(half, REX_TO(x, COUNT / 2), REX_TO(y, COUNT));
    REX_DATA_REGION_MAP(NULL, -1, half) {
        /* No row is copied where one is wrong. */
        assert_int_equal(add(y, COUNT, 3, -1), 0);
        assert_int_equal(rex_data_update(-1, &both), REX_EABSENT);
        assert_non_null(strstr(rex_last_error(), "; row 1 is REX_FROM(x, COUNT)"));
        check_all(y, COUNT, 0);
        assert_int_equal(rex_data_update(-1, NULL), REX_EINVAL);
    }
    check_all(x, COUNT, 5);
}

/* ---- rectangles ------------------------------------------------------------------------------------------------------------- */

enum {
    MOST_DIMENSIONS = 4,
    MOST_ELEMENTS = 2048
};

struct rectangle {
    int32_t *array;
    struct rex_dimension dimensions[MOST_DIMENSIONS];
    int count;
    int64_t type;
};

static int push_rectangle(struct rex_map_builder *builder, void *context)
{
    struct rectangle *rectangle = context;
    return rex_map_add_strided(builder, rectangle->array, sizeof *rectangle->array, rectangle->dimensions, rectangle->count, rectangle->type);
}

/* Whether the element at INDEX of the array, row by row, is in the rectangle: the plain loop that rows are compared with. */
static int is_inside(const struct rectangle *rectangle, int64_t index)
{
    for (int d = rectangle->count - 1; d >= 0; d--) {
        const struct rex_dimension *dimension = &rectangle->dimensions[d];
        int64_t at = index % dimension->extent - dimension->lower;
        index /= dimension->extent;
        if (at < 0 || at % dimension->stride != 0 || at / dimension->stride >= dimension->length)
            return 0;
    }
    return 1;
}

static int64_t elements_of(const struct rectangle *rectangle)
{
    int64_t elements = 1;
    for (int d = 0; d < rectangle->count; d++)
        elements *= rectangle->dimensions[d].extent;
    return elements;
}

static void update_rectangle(struct rectangle *rectangle, int64_t type)
{
    struct rex_map map;
    rectangle->type = type;
    assert_int_equal(rex_map_build(&map, NULL, push_rectangle, rectangle, NULL), 0);
    assert_int_equal(rex_data_update(-1, &map), 0);
    rex_map_free(&map);
}

static void check_elements(const struct rectangle *rectangle, int64_t elements, int32_t inside, int32_t outside)
{
    for (int64_t i = 0; i < elements; i++) {
        int32_t expected = (int32_t)i + (is_inside(rectangle, i) ? inside : outside);
        if (rectangle->array[i] != expected)
            fail_msg("%d dimensions: element %d is %d, not %d", rectangle->count, (int)i, rectangle->array[i], expected);
    }
}

/* 1000 from the device inside, then 20000 to it. */
static void check_rectangle(struct rectangle *rectangle)
{
    int64_t elements = elements_of(rectangle);
    assert_true(elements <= MOST_ELEMENTS);
    for (int64_t i = 0; i < elements; i++)
        rectangle->array[i] = (int32_t)i;
    REX_MAP(region, REX_TOFROM(rectangle->array, elements));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        assert_int_equal(add(rectangle->array, elements, 1000, -1), 0);
        update_rectangle(rectangle, REX_MAP_FROM);
        check_elements(rectangle, elements, 1000, 0);
        for (int64_t i = 0; i < elements; i++)
            rectangle->array[i] = (int32_t)i + 20000;
        update_rectangle(rectangle, REX_MAP_TO);
    }
    check_elements(rectangle, elements, 20000, 1000);
}

static int64_t draw(uint64_t *random, int64_t most)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*random >> 33) % (uint64_t)most);
}

TEST(rectangles_at_random)
{
    static int32_t array[MOST_ELEMENTS];
    uint64_t random = 2024;
    start();
    for (int i = 0; i < rounds_of(400); i++) {
        struct rectangle rectangle = {.array = array, .count = 1 + (int)draw(&random, MOST_DIMENSIONS)};
        for (int d = 0; d < rectangle.count; d++) {
            struct rex_dimension *dimension = &rectangle.dimensions[d];
            dimension->extent = 1 + draw(&random, 6);
            dimension->lower = draw(&random, dimension->extent);
            dimension->stride = 1 + draw(&random, 3);
            dimension->length = draw(&random, (dimension->extent - 1 - dimension->lower) / dimension->stride + 2);
        }
        check_rectangle(&rectangle);
    }
}

/* ---- what threads copy ------------------------------------------------------------------------------------------------- */

enum {
    MANY = 3 << 20,                                /* 12 MiB */
    EVERY = (MANY - COUNT) / 4 /* where the device adds */
};
static int32_t *many;

/* The kernel gets the piece; all is mapped. */
static int add_piece(int64_t piece)
{
    int32_t *own = many + piece * EVERY;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    REX_MAP(map, REX_VALUE((int64_t)COUNT), REX_VALUE(1), REX_NO_PARAM(REX_TOFROM(many, MANY)),
            REX_TOFROM(own, COUNT));
    return rex_launch(&launch, &map);
}

static void set_many(void)
{
    for (int i = 0; i < MANY; i++)
        many[i] = 5;
}

/* ---- threads ------------------------------------------------------------------------------------------------------------ */

enum { SHARERS = 3, TIMES = 12, LOOKERS = 3 };

/* Each adds to a piece of its own, and maps all of them: around its launch, or by it. */
static void *share_many(void *number)
{
    int64_t piece = (intptr_t)number;
    REX_MAP(region, REX_TOFROM(many, MANY));
    for (int i = 0; i < TIMES; i++) {
        bool begins = (i + piece) % 3 != 0;
        if ((begins && rex_data_enter(-1, &region) != 0) ||
            add_piece(piece) != 0 || (begins && rex_data_exit(-1, &region) != 0))
            return many;
    }
    return NULL;
}

/* A begin has copied all before another thread's launch sees it. */
TEST(threads_share_a_large_row, .gpu = ON_GPU)
{
    pthread_t sharer[SHARERS];
    void *failed;
    assert_int_equal(rex_configure(REX_OPTION_COPY_THREADS, "2"), 0);
    start();
    assert_non_null(many = malloc(MANY * sizeof *many));
    set_many();
    for (intptr_t i = 0; i < SHARERS; i++)
        assert_int_equal(pthread_create(&sharer[i], NULL, share_many, (void *)i), 0);
    for (int i = 0; i < SHARERS; i++) {
        pthread_join(sharer[i], &failed);
        assert_null(failed);
    }
    assert_false(rex_target_is_present(many, 1, -1));
    for (int64_t i = 0; i < MANY; i++)
        assert_int_equal(many[i], i % EVERY < COUNT && i / EVERY < SHARERS ? 5 + TIMES : 5);
    free(many);
}

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

TEST(presence)
{
    start();
    assert_false(rex_target_is_present(x, 1, -1));
    assert_false(rex_target_is_present(NULL, 0, -1));
    assert_null(rex_mapped_ptr(x, -1));
    assert_null(rex_mapped_ptr(NULL, -1));
    REX_MAP(region, REX_SECTION(REX_MAP_TO, x, 16, 16));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        char *device = rex_mapped_ptr(x + 16, -1);
        assert_non_null(device);
        assert_true(rex_target_is_present(x + 16, 16 * sizeof *x, -1));
        assert_true(rex_target_is_present(x + 16, 0, -1));
        assert_true(rex_target_is_present(x + 31, sizeof *x, -1));
        assert_false(rex_target_is_present(x + 31, 2 * sizeof *x, -1));
        assert_false(rex_target_is_present(x + 15, 2 * sizeof *x, -1));
        assert_false(rex_target_is_present(x + 15, 18 * sizeof *x, -1));
        assert_false(rex_target_is_present(x + 32, 1, -1));
        assert_ptr_equal(rex_mapped_ptr(x + 20, -1), device + 4 * sizeof *x);
        assert_false(rex_target_is_present(x + 16, 1, 1 << 20));
        assert_null(rex_mapped_ptr(x + 16, 1 << 20));
    }
    assert_false(rex_target_is_present(x + 16, 1, -1));
    assert_null(rex_mapped_ptr(x + 16, -1));
}

/* What a row of no length ends, from whose base on a mapping lies, differs from release to release. */
TEST(ends_of_no_length)
{
    start();
    void *found = dlsym(RTLD_DEFAULT, "omp_target_is_present");
    int (*is_present)(const void *, int);
    assert_non_null(found);
    memcpy(&is_present, &found, sizeof found);
    REX_MAP(region, REX_SECTION(REX_MAP_TO, x, 16, 16));
    REX_MAP(empty, REX_SECTION(REX_MAP_ALLOC, x, 0, 0));
    assert_int_equal(rex_data_enter(0, &region), 0);
    assert_true(rex_target_is_present(x + 16, 16 * sizeof *x, 0));
    assert_int_equal(rex_data_exit(0, &empty), 0);
    assert_int_equal(rex_target_is_present(x + 16, 16 * sizeof *x, 0), is_present(x + 16, 0));
    assert_int_equal(rex_data_exit(0, &region), 0);
}
