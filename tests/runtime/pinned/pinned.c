/*
 * Pinned host memory: made, taken back, pinned in place; on the host device the same calls on pageable memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/checks.h"

REX_KERNEL(add_one);

enum { VALUES = 100000 };

/* What the driver says, apart from librex: whether it knows the address as pinned. */
static int is_pinned(void *address)
{
    int (*flags_of)(unsigned *flags, void *address);
    unsigned flags;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *function = driver != NULL ? dlsym(driver, "cuMemHostGetFlags") : NULL;
    if (function == NULL)
        return 0;
    memcpy(&flags_of, &function, sizeof flags_of);
    return flags_of(&flags, address) == 0;
}

/* A launch that maps the values there and back: each is one more afterwards. */
static void use(int64_t *values)
{
    int64_t n = VALUES;
    struct rows rows = {0};
    for (int i = 0; i < VALUES; i++)
        values[i] = i;
    add_literal(&rows, &n, sizeof n);
    add_row(&rows, values, VALUES * sizeof *values, PARAMETER | TOFROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 100, 128);
    assert_int_equal(rex___tgt_target_kernel(-1, 100, 128, REX_KERNEL_ID(add_one), &packet), 0);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(values[i], i + 1);
}

TEST(allocated)
{
    /* Before the first registration, and after it. */
    int64_t *early = rex_host_alloc(VALUES * sizeof *early);
    assert_non_null(early);
    use(early);
    int64_t *late = rex_host_alloc(VALUES * sizeof *late);
    assert_non_null(late);
    use(late);
    if (gpu_present())
        assert_true(is_pinned(early) && is_pinned(late));
    assert_int_equal(rex_offload_fini(), 0);
    use(early);
    assert_int_equal(rex_host_free(early), 0);
    assert_int_equal(rex_host_free(late), 0);
    assert_int_equal(rex_host_free(NULL), 0);
    assert_int_equal(rex_host_free(late), REX_EINVAL);
}

TEST(pinned_in_place)
{
    int64_t *values = malloc(VALUES * sizeof *values);
    assert_non_null(values);
    assert_int_equal(rex_host_register(values, VALUES * sizeof *values), 0);
    /* The driver answers in a context only, which the launch leaves current. */
    use(values);
    if (gpu_present())
        assert_true(is_pinned(values));
    assert_int_equal(rex_host_unregister(values), 0);
    if (gpu_present())
        assert_false(is_pinned(values));
    use(values);
    assert_int_equal(rex_host_register(values, VALUES * sizeof *values), 0);
    assert_int_equal(rex_host_unregister(values), 0);
    free(values);
}

/* What is refused is not in the way of a later try, nor are neighbours; unit/refusals has more. */
TEST(wrong)
{
    static char bytes[3 * 4096] __attribute__((__aligned__(4096)));
    char *middle = bytes + 4096;
    assert_int_equal(rex_host_register(middle, 4096), 0);
    assert_int_equal(rex_host_register(middle, 4096), REX_EINVAL);
    assert_int_equal(rex_host_register(bytes, 4097), REX_EINVAL);
    char overlap[128];
    snprintf(overlap, sizeof overlap, "4000 bytes at %p overlap the 4096 pinned at %p", (void *)(middle + 4095), (void *)middle);
    FAILS(rex_host_register(middle + 4095, 4000), REX_EINVAL, overlap);
    assert_int_equal(rex_host_unregister(middle + 1), REX_EINVAL);
    FAILS(rex_host_free(middle), REX_EINVAL, " was not made by rex_host_alloc, or is freed already");
    assert_true(rex_host_register(bytes, 4096) == 0 && rex_host_unregister(bytes) == 0);
    assert_true(rex_host_register(middle + 4096, 4096) == 0 && rex_host_unregister(middle + 4096) == 0);
    assert_int_equal(rex_host_unregister(middle), 0);
    assert_int_equal(rex_host_unregister(middle), REX_EINVAL);
    assert_null(rex_host_alloc(SIZE_MAX - 5));
    assert_int_not_equal(rex_last_error_code(), REX_EINVAL);
    assert_true(rex_host_register(bytes, 8000) == 0 && rex_host_unregister(bytes) == 0);
}
