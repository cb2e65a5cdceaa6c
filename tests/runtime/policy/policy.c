/*
 * OMP_TARGET_OFFLOAD and OMP_DEFAULT_DEVICE.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(square);

static int launch(int64_t device, int64_t *result)
{
    int64_t value = 12;
    struct rows rows = {0};
    *result = -1;
    add_literal(&rows, &value, sizeof value);
    add_row(&rows, result, sizeof *result, PARAMETER | FROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    return rex___tgt_target_kernel(device, 1, 1, REX_KERNEL_ID(square), &packet);
}

static void data_calls(int64_t device, int64_t *value)
{
    void *address[] = {value};
    int64_t size[] = {sizeof *value}, tofrom[] = {TOFROM}, from[] = {FROM};
    __tgt_target_data_begin(device, 1, address, address, size, tofrom);
    __tgt_target_data_update(device, 1, address, address, size, from);
    __tgt_target_data_end(device, 1, address, address, size, tofrom);
}

static void check_disabled(const char *spelling)
{
    int64_t result, value = 5;
    setenv("OMP_TARGET_OFFLOAD", spelling, 1);
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(rex_device_count(), 0);
    assert_int_equal(rex_last_error_code(), 0);
    for (int64_t device = -1; device < 3; device++) {
        assert_int_equal(launch(device, &result), REX_EHOST);
        assert_int_equal(result, -1);
        data_calls(device, &value);
        assert_int_equal(value, 5);
    }
    assert_int_equal(rex_last_error_code(), 0);
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(launch(-1, &result), REX_EHOST);
    assert_int_equal(rex_last_error_code(), 0);
}

TEST(disabled)
{
    check_disabled("disabled");
}

TEST(disabled_in_capitals)
{
    check_disabled("DISABLED");
}

static void check_works(void)
{
    int64_t result, value = 5;
    assert_int_equal(rex_offload_init(), 0);
    assert_true(rex_device_count() > 0);
    assert_int_equal(launch(-1, &result), 0);
    assert_int_equal(result, 144);
    data_calls(-1, &value);
    assert_int_equal(value, 5);
}

TEST(mandatory)
{
    int64_t result;
    setenv("OMP_TARGET_OFFLOAD", "mandatory", 1);
    check_works();
    /* What libomptarget would abort for is an error first. */
    assert_int_equal(launch(99, &result), REX_EDEVICE);
    assert_int_equal(rex_last_error_code(), REX_EDEVICE);
    assert_int_equal(launch(0, &result), 0);
}

TEST(default_policy)
{
    setenv("OMP_TARGET_OFFLOAD", "default", 1);
    check_works();
}

/* The policy is decided at the first use, for good: a failure before must not count as one. */
TEST(a_missing_image_decides_nothing)
{
    int64_t result;
    assert_null(register_cubin("/nowhere/image.cubin"));
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "/nowhere/image.cubin"), 0);
    assert_int_equal(launch(-1, &result), REX_ENOIMAGE);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, NULL), 0);
    assert_int_equal(rex_device_count(), 0);
    check_works();
}

TEST(default_device_out_of_range)
{
    int64_t result;
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rex_offload_init(), REX_EDEVICE);
        assert_non_null(strstr(rex_last_error(), "99"));
        assert_non_null(strstr(rex_last_error(), "OMP_DEFAULT_DEVICE"));
    }
    /* A device that is named is none the worse. */
    assert_int_equal(launch(0, &result), 0);
    assert_int_equal(result, 144);
}

TEST(lazy_launch_on_a_default_device_out_of_range)
{
    int64_t result, value = 5;
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    assert_int_equal(launch(-1, &result), REX_EDEVICE);
    assert_int_equal(rex_last_error_code(), REX_EDEVICE);
    assert_non_null(strstr(rex_last_error(), "99"));
    assert_int_equal(result, -1);
    data_calls(-1, &value);
    assert_int_equal(value, 5);
    assert_int_equal(launch(0, &result), 0);
    assert_int_equal(result, 144);
}
