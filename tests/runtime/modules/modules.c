/*
 * Modules that rex_kmp.h has not made (generator.c): images from file and memory, exported wrappers that find them by key; and device
 * globals through REX_GLOBAL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "generator.h"

REX_KERNEL(shift);
REX_KERNEL(weigh);

int64_t base = 1;
REX_GLOBAL(base);
struct table {
    double values[8];
} weights;
REX_GLOBAL(weights);

static struct path image;

static void check_generated(int number)
{
    int64_t result = -1, updated = -1;
    assert_int_equal(generator_shift(number, 1, &result), 0);
    assert_int_equal(result, 501);
    assert_int_equal(generator_shift_teams(number, 2, &result), 0);
    assert_int_equal(result, 502);
    assert_int_equal(generator_shift_target(number, -3, &result), 0);
    assert_int_equal(result, 497);
    assert_int_equal(generator_enveloped(number, 21, &result), 0);
    assert_int_equal(result, 42);
    assert_int_equal(generator_shift_mapped(number, 7, &result, &updated), 0);
    assert_int_equal(updated, 507);
    assert_int_equal(result, 507);
}

static int64_t shifted(int64_t value)
{
    int64_t result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(shift), &packet), 0);
    return result;
}

/* Unknown until it is added. The image in memory wins over a name; librex copies it. */
TEST(several_beside_the_header_s_own)
{
    struct bytes bytes = read_bytes(default_image().text);
    int64_t result = -1;
    image = default_image();
    generator_image(0, image.text, NULL, 0);
    generator_image(1, "/nowhere/image.cubin", bytes.bytes, bytes.size);
    if (loads_late()) { /* the launch registers this binary's module */
        assert_int_equal(generator_shift(0, 1, &result), REX_EKEY);
        assert_int_equal(rex_last_error_code(), REX_EKEY);
        assert_int_equal(result, -1);
    } else {
        for (int i = 0; i < 2; i++)
            assert_int_equal(generator_add(i), 0); /* before the first registration */
    }
    assert_int_equal(rex_offload_init(), 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(generator_add(1), 0);
        assert_int_equal(generator_add(0), 0);
        check_generated(0);
        check_generated(1);
        assert_int_equal(shifted(9), 509);
        memset(bytes.bytes, 0, bytes.size); /* the program's own again */
    }
    free(bytes.bytes);
}

/* ---- globals --------------------------------------------------------------------------------------------------------------------- */

static void update(void *variable, size_t size, int64_t type)
{
    void *address[] = {variable};
    int64_t sizes[] = {(int64_t)size}, types[] = {type};
    __tgt_target_data_update(-1, 1, address, address, sizes, types);
}

static double weighed(void)
{
    double result = -1;
    struct rows rows = {0};
    add_row(&rows, &result, sizeof result, PARAMETER | FROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(weigh), &packet), 0);
    return result;
}

TEST(device_globals)
{
    assert_int_equal(rex_offload_init(), 0);
    /* The device's own value until the host's is sent; neither is the other. */
    assert_int_equal(shifted(1), 501);
    assert_int_equal(base, 1);
    base = 70;
    assert_int_equal(shifted(1), 501);
    update(&base, sizeof base, TO);
    assert_int_equal(shifted(1), 71);
    base = 0;
    update(&base, sizeof base, FROM);
    assert_int_equal(base, 70);

    /* A kernel writes, the host reads. */
    for (int i = 0; i < 8; i++)
        weights.values[i] = i + 1;
    update(&weights, sizeof weights, TO);
    assert_true(weighed() == 36);
    assert_true(weighed() == 72);
    assert_true(weights.values[7] == 8);
    update(&weights, sizeof weights, FROM);
    for (int i = 0; i < 8; i++)
        assert_true(weights.values[i] == 4 * (i + 1));
    /* A part of it. */
    weights.values[3] = 1000;
    update(&weights.values[3], sizeof weights.values[3], TO);
    assert_true(weighed() == 4 * 36 - 16 + 1000);
}

/* Registered again, the image is loaded again, and the host's global stands for the device global that the kernels now use. */
static void check_globals_after_fini(void)
{
    for (int round = 0; round < 3; round++) {
        assert_int_equal(rex_offload_init(), 0);
        base = 10 + round;
        update(&base, sizeof base, TO);
        assert_int_equal(shifted(1), 11 + round);
        base = -1;
        update(&base, sizeof base, FROM);
        assert_int_equal(base, 10 + round);
        assert_int_equal(rex_offload_fini(), 0);
    }
}

TEST(globals_after_fini)
{
    check_globals_after_fini();
}

/* LLVM 19 on forget everything with the last module, and nothing while there is one. */
TEST(globals_after_fini_beside_a_module)
{
    image = default_image();
    generator_image(0, image.text, NULL, 0);
    assert_int_equal(generator_add(0), 0);
    assert_int_equal(rex_module_add(&rex_this_module), 0); /* LLVM 18 registers both */
    check_generated(0);
    check_globals_after_fini();
    check_generated(0);
}
