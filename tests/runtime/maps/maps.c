/*
 * Row macros of rex/map.h on the real runtime, and how often each evaluates its expressions. unit/rows has
 * what each puts into the columns, script/oracle and script/walk what kernels do with them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "shapes.h"

REX_KERNEL(add);
REX_KERNEL(address);
REX_KERNEL(distance);
REX_KERNEL(own);
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

/* ---- expressions ------------------------------------------------------------------------------- */

/* Each expression of a row counts how often it is evaluated. */
static int evaluations;
static int64_t counted(int64_t value)
{
    evaluations++;
    return value;
}
#define COUNTED(pointer) ((__typeof__(&*(pointer)))(intptr_t)counted((intptr_t)(pointer)))
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
    EVALUATED(2, REX_TO(COUNTED(x), counted(3)));
    EVALUATED(2, REX_FROM(COUNTED(x), counted(3)));
    EVALUATED(2, REX_TOFROM(COUNTED(x), counted(3)));
    EVALUATED(2, REX_ALLOC(COUNTED(x), counted(3)));
    EVALUATED(2, REX_RELEASE(COUNTED(x), counted(3)));
    EVALUATED(2, REX_DELETE(COUNTED(x), counted(3)));
    EVALUATED(4, REX_SECTION(counted(0), COUNTED(x), counted(1), counted(2)));
    EVALUATED(2, REX_OBJECT(counted(0), *COUNTED(x)));
    EVALUATED(1, REX_POINTER(COUNTED(x)));
    EVALUATED(1, REX_IS_DEVICE_PTR(COUNTED(x)));
    EVALUATED(1, REX_FIRSTPRIVATE(*COUNTED(x)));
    EVALUATED(1, REX_PRIVATE(*COUNTED(x)));
    EVALUATED(1, REX_USE_DEVICE_PTR(COUNTED(x)));
    EVALUATED(2, REX_RETURN(REX_TO(COUNTED(x), counted(1))));
    EVALUATED(1, REX_STRUCT(*COUNTED(&s), bonus, next));
    EVALUATED(3, REX_MEMBER(counted(0) != 0, counted(0), *COUNTED(&s), bonus));
    EVALUATED(5, REX_MEMBER_POINTER(counted(0) != 0, counted(0), *COUNTED(&s), inner.values, counted(0), counted(1)));
    EVALUATED(3, REX_ATTACH(REX_MAP_TO, COUNTED(&s)->inner.values, counted(0), counted(1)));
    EVALUATED(2, REX_ALWAYS(REX_CLOSE(REX_HOLD(REX_TO(COUNTED(x), counted(1))))));
}

#define IN_TURN REX_VALUE(counted(evaluations))
#define TEN IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN, IN_TURN

/* As many as there are, each evaluated once; C leaves the order open, gcc and clang go from left to right. */
TEST(many_rows)
{
    evaluations = 0;
    REX_MAP(map, TEN, TEN, TEN, TEN, TEN, TEN, IN_TURN, IN_TURN, IN_TURN, IN_TURN);
    assert_int_equal(map.count, 64);
    assert_int_equal(evaluations, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal((int64_t)(intptr_t)map.begin[i], i);
    REX_MAP(more, TEN, TEN, TEN, TEN, TEN, TEN, TEN);
    assert_int_equal(more.count, 70);
    assert_int_equal((int64_t)(intptr_t)more.begin[69], 64 + 69);
}

/* ---- memory ----------------------------------------------------------------------------------------------------------- */

static uint64_t address_at_kernel(struct rex_row row)
{
    uint64_t address = 1;
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, address), row);
    LAUNCH(address, map);
    return address;
}

/* The same in a queue, which maps nothing. */
static uint64_t address_in_queue(struct rex_row row)
{
    static uint64_t address;
    struct rex_queue *queue;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(address), 1, 1);
    REX_MAP(map, REX_OBJECT(REX_MAP_FROM, address), row);
    map.count = 1;
    assert_int_equal(rex_data_enter(-1, &map), 0);
    map.count = 2;
    assert_int_equal(rex_queue_create(&queue, -1, NULL, 0), 0);
    assert_int_equal(launch_in(queue, &launch, &map), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(rex_queue_destroy(queue), 0);
    map.count = 1;
    assert_int_equal(rex_data_exit(-1, &map), 0);
    return address;
}

/* Who launches makes no difference. */
static void sections_by(const char *sender)
{
    if (gpu_present() && release_of_test() == 18 && strcmp(sender, "runtime") == 0)
        return; /* LLVM 18 launches no plain kernel on a GPU */
    assert_int_equal(rex_configure(REX_OPTION_LAUNCH_BY, sender), 0);
    /* A GPU may be given its address. */
    int64_t *x = rex_host_alloc(COUNT * sizeof *x);
    assert_non_null(x);
    start();
    uint64_t absent = address_at_kernel(REX_POINTER(x));
    assert_true(absent == (rex_runtime_release() >= 16 ? (uint64_t)(uintptr_t)x : 0));
    assert_true(address_in_queue(REX_TO(x, 0)) == absent);
    assert_true(address_at_kernel(REX_TO(x, 0)) == absent);
    assert_true(address_at_kernel(REX_TO((int64_t *)NULL, 0)) == 0);
    assert_false(rex_target_is_present(x, 1, -1));
    int64_t distance = 0;
    REX_MAP(both, REX_OBJECT(REX_MAP_FROM, distance), REX_TO(x, COUNT), REX_POINTER(x + 3));
    LAUNCH(distance, both);
    assert_int_equal(distance, 3);

    REX_MAP(region, REX_TO(x, COUNT));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        uint64_t device = (uint64_t)(uintptr_t)rex_mapped_ptr(x, -1);
        assert_true(device != 0);
        assert_true(address_at_kernel(REX_POINTER(x)) == device);
        assert_true(address_at_kernel(REX_POINTER(x + 3)) == device + 3 * sizeof *x);
        assert_true(address_at_kernel(REX_TO(x, 0)) == device);
    }
    assert_false(rex_target_is_present(x, 1, -1));

    /* Between an array's begin and its section LLVM 15 and later find the section; the driver leaves that to them. */
    REX_MAP(section, REX_SECTION(REX_MAP_TO, x, 8, 8));
    bool found = rex_runtime_release() >= 15 && !(gpu_present() && release_of_test() == 18);
    if (strcmp(sender, "driver") != 0)
        REX_DATA_REGION_MAP(NULL, -1, section)
            assert_true(address_at_kernel(REX_POINTER(x)) ==
                        (found ? (uint64_t)(uintptr_t)rex_mapped_ptr(x + 8, -1) - 8 * sizeof *x : absent));
    assert_int_equal(rex_host_free(x), 0);
}

TEST(sections_of_no_length)
{
    sections_by("auto");
}

TEST(sections_of_no_length_by_the_driver)
{
    sections_by("driver");
}

TEST(sections_of_no_length_by_libomptarget)
{
    sections_by("runtime");
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

/* ---- memory of the kernel's own ---------------------------------------------------------------- */

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

/* ---- structs ---------------------------------------------------------------------------------------------------------------- */

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
