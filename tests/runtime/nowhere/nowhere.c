/*
 * Where there is no device: offloading disabled, the host asked for, a default device out of range
 * (numbers of no device: badinput); OMP_TARGET_OFFLOAD and OMP_DEFAULT_DEVICE; wrappers of a module
 * that cannot be registered.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <sys/stat.h>

#include "runtime/runtime.h"

REX_KERNEL(set);

static int64_t x[8];

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

static int set(int64_t device, int64_t value, int64_t *result)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(set), 1, 1);
    launch.device = device;
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

/* By the raw calls as well. */
static void check_raw(int64_t device)
{
    int64_t value = 4, result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex___tgt_target_kernel(device, 1, 1, REX_KERNEL_ID(set), &packet), REX_EHOST);
    __tgt_target_data_begin(device, 1, rows.value + 1, rows.value + 1, rows.size + 1,
                            rows.type + 1);
    __tgt_target_data_update(device, 1, rows.value + 1, rows.value + 1, rows.size + 1,
                             rows.type + 1);
    __tgt_target_data_end(device, 1, rows.value + 1, rows.value + 1, rows.size + 1, rows.type + 1);
    assert_int_equal(rex_module_target_data(&rex_this_module, REX_DATA_UPDATE, device, 1, rows.value + 1, rows.value + 1,
                                            rows.size + 1, rows.type + 1), 0);
    assert_int_equal(result, -1);
}

TEST(offloading_disabled)
{
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(rex_device_count(), 0);
    for (int64_t device = -1; device < 3; device++) {
        assert_int_equal(rex_configure(REX_OPTION_LOG, "off"), 0);
        check_raw(device);
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
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(rex_offload_init(), 0);
    check_raw(-1);
}

/* The number behind the last device is the host, whose memory is its own. */
TEST(the_host_as_a_device)
{
    start();
    int64_t host = rex_device_count(), back = 0;
    check_on_host(host);
    check_raw(host);
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

/* What libomptarget would abort for is an error first; a default device that there is not is no
 * worse for one that is named. */
static void check_works(const char *policy)
{
    int64_t result = -1;
    setenv("OMP_TARGET_OFFLOAD", policy, 1);
    start();
    assert_int_equal(set(-1, 4, &result), 0);
    assert_int_equal(result, 4);
    assert_int_equal(set(99, 5, &result), REX_EDEVICE);
    assert_int_equal(set(0, 5, &result), 0);
    assert_int_equal(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    assert_int_equal(set(rex_device_count(), 5, &result), REX_ENODEVICE);
    assert_non_null(strstr(rex_last_error(), "is the host, and REX_REQUIRE_GPU is on"));
    struct rows rows = rows_of(&result, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_module_launch(&rex_this_module, rex_device_count(), 1, 1, REX_KERNEL_ID(set), &packet), REX_ENODEVICE);
    assert_int_equal(rex___tgt_target_kernel(rex_device_count(), 1, 1, REX_KERNEL_ID(set), &packet), REX_ENODEVICE);
}

TEST(mandatory)
{
    check_works("mandatory");
}

/* The policy is decided at the first use, for good: a failure before must not count as one. */
TEST(a_missing_image_decides_nothing)
{
    int64_t result;
    assert_null(register_cubin("/nowhere/image.cubin"));
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "/nowhere/image.cubin"), 0);
    assert_int_equal(set(-1, 4, &result), REX_ENOIMAGE);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, NULL), 0);
    assert_int_equal(rex_device_count(), 0);
    check_works("default");
}

TEST(default_device_out_of_range)
{
    int64_t result = -1;
    REX_MAP(map, REX_TOFROM(x, 8));
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    assert_int_equal(set(-1, 4, &result), REX_EDEVICE);
    assert_int_equal(rex_data_enter(-1, &map), REX_EDEVICE);
    assert_int_equal(result, -1);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rex_offload_init(), REX_EDEVICE);
        assert_non_null(strstr(rex_last_error(),
                               "the default device, 99, does not exist: valid numbers are 0 to "));
    }
    assert_int_equal(set(0, 4, &result), 0);
    assert_int_equal(result, 4);
}

/* ---- wrappers of a module that cannot be registered -------------------------------------------------------------------- */

static int (*by_key)(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *packet);
static int (*by_key_teams)(int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types,
                           int32_t teams, int32_t threads);

static void __attribute__((constructor)) find_exported(void)
{
    find_wrapper("target_kernel", &by_key);
    find_wrapper("target_teams", &by_key_teams);
}

/* Each wrapper, inline and exported, returns EXPECTED because of CAUSE, and launches nothing. */
static void check_wrappers(int64_t device, int expected, int cause)
{
    int64_t value = 4, result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    void *key = REX_KERNEL_ID(set);
    assert_int_equal(rex_module_add(&rex_this_module), 0);
    for (int wrapper = 0; wrapper < 5; wrapper++) {
        rex_pack_literal_arg_bytes(NULL, 1); /* another error */
        int returned = wrapper == 0   ? __tgt_target_kernel(device, 1, 1, key, &packet)
                       : wrapper == 1 ? by_key(device, 1, 1, key, &packet)
                       : wrapper == 2 ? by_key_teams(device, key, 2, rows.value, rows.value, rows.size, rows.type, 1, 1)
                       : wrapper == 3 ? __tgt_target_teams(device, key, 2, rows.value, rows.value, rows.size, rows.type, 1, 1)
                                      : rex_module_target_kernel(&rex_this_module, device, 1, 1, key, &packet);
        assert_int_equal(returned, expected);
        assert_int_equal(rex_last_error_code(), cause);
    }
    assert_int_equal(rex_module_launch(&rex_this_module, device, 1, 1, key, &packet), cause);
    assert_int_equal(result, -1);
}

static void check_unregistered(int cause)
{
    check_wrappers(-1, REX_EHOST, cause);
    setenv("OMP_TARGET_OFFLOAD", "Mandatory", 1);
    check_wrappers(-1, cause, cause);
    unsetenv("OMP_TARGET_OFFLOAD");
}

TEST(wrappers_without_a_runtime)
{
    assert_int_equal(rex_configure(REX_OPTION_OMPTARGET, "/nowhere/libomptarget.so"), 0);
    check_unregistered(REX_ENORUNTIME);
}

/* No image, one that is refused, one that cannot be read; then REX_REQUIRE_GPU. */
TEST(wrappers_without_an_image)
{
    struct path folder = temporary_file("folder"), text = temporary_file("text");
    assert_int_equal(mkdir(folder.text, 0700), 0);
    FILE *file = fopen(text.text, "w");
    assert_true(file != NULL && fputs("no image", file) > 0 && fclose(file) == 0);
    const struct {
        const char *image;
        int cause;
    } given[] = {{"/nowhere/image.cubin", REX_ENOIMAGE}, {text.text, REX_EIMAGE}, {folder.text, REX_EREAD}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_int_equal(rex_configure(REX_OPTION_CUBIN, given[i].image), 0);
        check_unregistered(given[i].cause);
    }
    assert_int_equal(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    int cause = gpu_present() ? REX_EREAD : REX_ENODEVICE;
    check_wrappers(-1, cause, cause);
    rmdir(folder.text);
    unlink(text.text);
}

/* An image without one of the kernels. */
static char unknown_key;
static struct __tgt_offload_entry unknown_entry[] = {{&unknown_key, (char *)"no__kernel__", 0, 0, 0}};
static struct rex_module unknown = {
    .struct_size = sizeof unknown, .entries_begin = unknown_entry, .entries_end = unknown_entry + 1};

TEST(wrappers_without_a_kernel)
{
    struct path image = default_image();
    struct __tgt_kernel_arguments packet = {.Version = 3};
    unknown.image_name = image.text;
    assert_int_equal(rex_module_add(&unknown), 0);
    assert_int_equal(by_key(-1, 1, 1, &unknown_key, &packet), REX_EHOST);
    assert_int_equal(rex_last_error_code(), REX_ENOKERNEL);
    assert_int_equal(rex_module_target_kernel(&unknown, -1, 1, 1, &unknown_key, &packet), REX_EHOST);
    assert_int_equal(rex_module_launch(&unknown, -1, 1, 1, &unknown_key, &packet), REX_ENOKERNEL);
}

/* A CUBIN, which needs a GPU. */
TEST(wrappers_without_a_device, .gpu = ON_HOST_DEVICE)
{
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "tests/data/sm_90.cubin"), 0);
    check_unregistered(REX_ENODEVICE);
}

/* Errors of the call are no reason for the host version, nor is a child that cannot go on. */
TEST(wrappers_in_error)
{
    struct __tgt_kernel_arguments packet = {.Version = 3};
    check_wrappers(99, REX_EDEVICE, REX_EDEVICE);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(set), &packet), REX_EPARAMS);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(set), NULL), REX_EINVAL);
    assert_int_equal(by_key(-1, 1, 1, &unknown_key, &packet), REX_EKEY);
    assert_int_equal(rex_module_target_kernel(NULL, -1, 1, 1, REX_KERNEL_ID(set), &packet), REX_EINVAL);
}
