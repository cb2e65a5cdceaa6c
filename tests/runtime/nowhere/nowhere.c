/*
 * Maps where there is no device for them: offloading disabled, the host asked for, numbers of no device; and what else is refused of
 * launches and data calls before libomptarget sees it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(set);

static char no_key;
static int64_t x[8];

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

static struct rex_launch_config launch_on(int64_t device)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(set), 1, 1);
    launch.device = device;
    return launch;
}

static int set(int64_t device, int64_t value, int64_t *result)
{
    struct rex_launch_config launch = launch_on(device);
    REX_MAP(map, REX_VALUE(value), REX_OBJECT(REX_MAP_FROM, *result));
    return rex_launch(&launch, &map);
}

/* ---- the host -------------------------------------------------------------------------------------------------------- */

/* Launches say so and change nothing, data calls are as good as done, and regions run. */
static void check_on_host(int64_t device)
{
    int64_t result = -1;
    int ran = 0;
    REX_MAP(tofrom, REX_TOFROM(x, 8));
    REX_MAP(present, REX_PRESENT(REX_TOFROM(x, 8)));
    x[0] = 3;
    assert_int_equal(set(device, 4, &result), REX_EHOST);
    assert_int_equal(rex_last_error_code(), REX_EHOST);
    assert_int_equal(result, -1);
    REX_DATA_REGION_MAP(NULL, device, tofrom) {
        ran++;
        assert_int_equal(set(device, 4, &result), REX_EHOST);
        assert_int_equal(rex_data_update(device, &tofrom), 0);
    }
    REX_DATA_REGION_MAP(NULL, device, present)
        ran++;
    assert_int_equal(ran, 2);
    assert_int_equal(rex_data_enter(device, &present), 0);
    assert_int_equal(rex_data_exit(device, &present), 0);
    assert_int_equal(x[0], 3);
    assert_int_equal(result, -1);
}

TEST(offloading_disabled)
{
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    for (int64_t device = -1; device < 3; device++) {
        check_on_host(device);
        assert_false(rex_target_is_present(x, sizeof x, device));
        assert_null(rex_mapped_ptr(x, device));
        assert_null(rex_device_alloc(sizeof x, device));
        assert_int_equal(rex_last_error_code(), REX_EINVAL);
        assert_non_null(strstr(rex_last_error(), "disabled"));
        assert_int_equal(rex_device_copy_to(x, x + 1, sizeof *x, device), REX_EINVAL);
        assert_int_equal(rex_device_copy_from(x, x + 1, sizeof *x, device), REX_EINVAL);
    }
    /* What is wrong with a map is said here, too. */
    REX_MAP(literal, REX_VALUE(1));
    assert_int_equal(rex_data_enter(-1, &literal), REX_EINVAL);
    assert_int_equal(rex_data_enter(-1, NULL), REX_EINVAL);
}

/* The number behind the last device is the host, whose memory is its own. */
TEST(the_host_as_a_device)
{
    start();
    int64_t host = rex_device_count(), back = 0;
    check_on_host(host);
    assert_true(rex_target_is_present(x, sizeof x, host));
    assert_ptr_equal(rex_mapped_ptr(x, host), x);
    void *memory = rex_device_alloc(sizeof x, host);
    assert_non_null(memory);
    assert_int_equal(rex_device_copy_to(memory, x, sizeof *x, host), 0);
    assert_int_equal(rex_device_copy_from(&back, memory, sizeof back, host), 0);
    assert_int_equal(back, 3);
    rex_device_free(memory, host);
    assert_int_equal(set(-1, 4, &back), 0);
    assert_int_equal(back, 4);
}

TEST(numbers_of_no_device)
{
    const int64_t numbers[] = {-2, INT64_MIN, INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(0x7fffffff00000000), INT64_MAX};
    int64_t result = -1;
    REX_MAP(map, REX_TOFROM(x, 8));
    start();
    for (size_t i = 0; i <= sizeof numbers / sizeof *numbers; i++) {
        int64_t device = i == 0 ? rex_device_count() + 1 : numbers[i - 1];
        assert_int_equal(set(device, 4, &result), REX_EDEVICE);
        assert_int_equal(rex_data_enter(device, &map), REX_EDEVICE);
        assert_int_equal(rex_data_exit(device, &map), REX_EDEVICE);
        assert_int_equal(rex_data_exit(device, &map), REX_EDEVICE);
        assert_int_equal(rex_data_update(device, &map), REX_EDEVICE);
        assert_int_equal(rex_device_copy_to(x, x + 1, 8, device), REX_EDEVICE);
        assert_int_equal(rex_device_copy_from(x, x + 1, 8, device), REX_EDEVICE);
        assert_null(rex_device_alloc(8, device));
        assert_false(rex_target_is_present(x, 8, device));
        assert_null(rex_mapped_ptr(x, device));
    }
    assert_int_equal(result, -1);
}

/* ---- presence ---------------------------------------------------------------------------------------------------------- */

/* An exit asks for what it says must be present; the end of a region does not ask again. */
TEST(present_at_an_exit)
{
    start();
    REX_MAP(present, REX_PRESENT(REX_RELEASE(x, 8)));
    REX_MAP(larger, REX_PRESENT(REX_RELEASE(x, 8)), REX_PRESENT(REX_RELEASE(x + 2, 6)));
    REX_MAP(to, REX_TO(x, 4));
    REX_MAP(all, REX_TO(x, 8));
    assert_int_equal(rex_data_exit(-1, &present), REX_EABSENT);
    assert_int_equal(rex_module_region_end(&rex_this_module, -1, &present), 0);
    assert_int_equal(rex_data_enter(-1, &to), 0);
    assert_int_equal(rex_data_exit(-1, &larger), REX_EABSENT);
    assert_true(rex_target_is_present(x, 4 * sizeof *x, -1));
    assert_int_equal(rex_data_exit(-1, &to), 0);
    assert_int_equal(rex_data_enter(-1, &all), 0);
    assert_int_equal(rex_data_exit(-1, &present), 0);
    assert_false(rex_target_is_present(x, 1, -1));
}

/* A section does not make what lies between its base and its begin present. */
TEST(below_a_section)
{
    start();
    REX_MAP(section, REX_SECTION(REX_MAP_TO, x, 4, 4));
    REX_MAP(below, REX_FROM(x + 1, 2));
    REX_DATA_REGION_MAP(NULL, -1, section) {
        for (int i = 0; i < 4; i++) {
            assert_false(rex_target_is_present(x + i, 0, -1));
            assert_false(rex_target_is_present(x + i, sizeof *x, -1));
            assert_null(rex_mapped_ptr(x + i, -1));
        }
        assert_int_equal(rex_data_update(-1, &below), REX_EABSENT);
    }
}

/* A row that was present is not looked for again until a mapping has ended, however that came about. */
TEST(present_no_longer)
{
    int64_t value = 4, *pointer = x;
    struct rex_launch_config launch;
    start();
    REX_MAP(all, REX_TO(pointer, 8));
    REX_MAP(half, REX_TO(pointer, 4));
    REX_MAP(of_all, REX_VALUE(value), REX_ALLOC(pointer, 8));
    REX_MAP(of_half, REX_VALUE(value), REX_ALLOC(pointer, 4));
    launch = launch_on(-1);
    for (int way = 0; way < 2; way++) {
        assert_int_equal(rex_data_enter(-1, &all), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(rex_launch(&launch, &of_all), 0);
            assert_int_equal(rex_launch(&launch, &of_half), 0);
            assert_int_equal(rex_data_update(-1, &all), 0);
        }
        if (way == 0)
            assert_int_equal(rex_data_exit(-1, &all), 0);
        else
            __rex_real___tgt_target_data_end(-1, 1, all.base, all.begin, all.sizes, all.types);
        assert_int_equal(rex_data_update(-1, &all), REX_EABSENT);
        assert_int_equal(rex_data_enter(-1, &half), 0);
        assert_int_equal(rex_launch(&launch, &of_half), 0);
        assert_int_equal(rex_launch(&launch, &of_all), REX_EOVERLAP);
        assert_int_equal(rex_data_exit(-1, &half), 0);
        assert_int_equal(rex_data_update(-1, &half), REX_EABSENT);
    }
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

TEST(refused_launches)
{
    int64_t result = -1, value = 4;
    start();
    REX_MAP(map, REX_VALUE(value), REX_OBJECT(REX_MAP_FROM, result));
    REX_MAP(three, REX_VALUE(value), REX_OBJECT(REX_MAP_FROM, result), REX_VALUE(value));
    struct rex_launch_config launch = launch_on(-1), strict = launch_on(-1);
    assert_int_equal(rex_launch(NULL, &map), REX_EINVAL);
    /* A host image does not say how many parameters there are. With one row for two the first would be taken for the runtime's own. */
    if (!rex_module_on_host(&rex_this_module)) {
        assert_int_equal(rex_launch(&launch, NULL), REX_EPARAMS);
        assert_int_equal(rex_launch(&launch, &three), REX_EPARAMS);
    }
    launch.key = &no_key;
    assert_int_equal(rex_launch(&launch, &map), REX_EKEY);
    launch.key = NULL;
    assert_int_equal(rex_launch(&launch, &map), REX_EKEY);

    strict.flags = REX_LAUNCH_STRICT;
    strict.teams[0] = 0;
    assert_int_equal(rex_launch(&strict, &map), REX_EINVAL);
    strict.teams[0] = 1;
    strict.threads[0] = 0;
    assert_int_equal(rex_launch(&strict, &map), REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "set__kernel__"));
    assert_int_equal(result, -1);
    strict.threads[0] = 1;
    assert_int_equal(rex_launch(&strict, &map), 0);
    assert_int_equal(result, 4);
    assert_false(rex_target_is_present(&result, 1, -1));
}

TEST(refused_maps)
{
    int64_t value = 4;
    start();
    struct rex_launch_config launch = launch_on(-1);
    REX_MAP(map, REX_VALUE(value), REX_OBJECT(REX_MAP_FROM, value));
    struct rex_map wrong[5] = {map, map, map, map, map};
    wrong[0].count = -1;
    wrong[1].base = NULL;
    wrong[2].begin = NULL;
    wrong[3].sizes = NULL;
    wrong[4].types = NULL;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rex_launch(&launch, &wrong[i]), REX_EINVAL);
        assert_int_equal(rex_data_enter(-1, &wrong[i]), REX_EINVAL);
        assert_int_equal(rex_data_exit(-1, &wrong[i]), REX_EINVAL);
        assert_int_equal(rex_data_exit(-1, &wrong[i]), REX_EINVAL);
        assert_int_equal(rex_data_update(-1, &wrong[i]), REX_EINVAL);
    }

    /* No rows at all are nothing to do. */
    struct rex_map nothing = {0};
    assert_int_equal(rex_data_enter(-1, &nothing), 0);
    assert_int_equal(rex_data_update(-1, &nothing), 0);
    assert_int_equal(rex_data_exit(-1, &nothing), 0);
}

/* ---- errors inside libomptarget's own calls ---------------------------------------------------------------------------- */

static int map_fails(struct rex_map_builder *builder, void *element)
{
    (void)builder, (void)element;
    return -77;
}
REX_RUNTIME_MAPPER(failing, map_fails, int64_t)

static int map_itself(struct rex_map_builder *builder, void *element)
{
    return rex_map_add_mapped(builder, map_itself, rex_row_of(element, element, 8, REX_MAP_TO), 8);
}
REX_RUNTIME_MAPPER(endless, map_itself, int64_t)

typedef void mapper_function(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name);

static void check_mapper(mapper_function *function, int code)
{
    void *mapper;
    memcpy(&mapper, &function, sizeof mapper);
    REX_MAP(map, REX_TO(x, 8));
    map.mappers = &mapper;
    assert_int_equal(rex_data_enter(-1, &map), 0);
    assert_int_equal(rex_last_error_code(), code);
    assert_int_equal(rex_data_exit(-1, &map), 0);
    assert_false(rex_target_is_present(x, 1, -1));
}

TEST(mappers_of_the_runtime_that_fail)
{
    start();
    check_mapper(failing, -77);
    assert_non_null(strstr(rex_last_error(), "-77"));
    check_mapper(endless, REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "without end"));
}
