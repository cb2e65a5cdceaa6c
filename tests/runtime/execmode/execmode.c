/*
 * Symbols NAME_exec_mode in the image: LLVM 16 loads none with a 0 in one, and 14 to 17 add threads to the block of one with a 1. Kernels
 * run with the block that was asked for all the same.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(with_zero);
REX_KERNEL(with_one);

static void check(const void *key)
{
    int64_t value = 42, out[2] = {0, 0};
    struct rex_launch_config launch = rex_launch_config_of(key, 4, 64);
    REX_MAP(map, REX_VALUE(value), REX_FROM(out, 2));
    assert_int_equal(rex_launch(&launch, &map), 0);
    assert_int_equal(out[0], 42);
    if (gpu_is_real())
        assert_int_equal(out[1], 64);
}

TEST(blocks_as_asked_for)
{
    assert_int_equal(rex_offload_init(), 0);
    check(REX_KERNEL_ID(with_zero));
    check(REX_KERNEL_ID(with_one));
}
