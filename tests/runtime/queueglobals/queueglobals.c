/*
 * Device globals exist twice on a GPU, so a queue refuses kernels of a module that has them unless it is told; then they are librex's
 * copy.
 *
 * On the host device there is one copy.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

static int64_t counter = 100;
REX_GLOBAL(counter);
REX_KERNEL(count);
REX_KERNEL(increment);

static int put(struct rex_queue *queue, int64_t by)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(count), 1, 1);
    REX_MAP(args, REX_VALUE(by));
    return launch_in(queue, &launch, &args);
}

/* What libomptarget's copy holds. */
static int64_t in_the_runtime(void)
{
    REX_MAP(from, REX_OBJECT(REX_MAP_FROM, counter));
    assert_int_equal(rex_data_update(-1, &from), 0);
    return counter;
}

TEST(refused)
{
    struct rex_queue *queue;
    assert_int_equal(rex_queue_create(&queue, -1, NULL, 0), 0);
    if (rex_queue_is_synchronous(queue)) {
        assert_int_equal(put(queue, 1), 0);
        assert_int_equal(in_the_runtime(), 101);
    } else {
        assert_int_equal(put(queue, 1), REX_EUNSUPPORTED);
        assert_non_null(strstr(rex_last_error(), "\"count\": its module has device globals"));
        assert_int_equal(in_the_runtime(), 100);
    }
    assert_int_equal(rex_queue_destroy(queue), 0);
}

TEST(told)
{
    struct rex_queue *queue;
    int64_t seen = -1;
    static char stray;
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(rex_queue_create(&queue, -1, NULL, REX_QUEUE_OWN_GLOBALS), 0);
    assert_int_equal(put(queue, 7), 0);
    assert_int_equal(put(queue, 7), 0);
    void *device = rex_queue_global(queue, &counter);
    assert_non_null(device);
    assert_int_equal(rex_queue_copy_from(queue, &seen, device, sizeof seen), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(seen, 114);
    assert_int_equal(in_the_runtime(), rex_queue_is_synchronous(queue) ? 114 : 100);
    assert_null(rex_queue_global(queue, &stray));
    assert_int_equal(rex_last_error_code(), REX_EKEY);
    assert_int_equal(rex_queue_destroy(queue), 0);
}

/* libomptarget maps a global when it loads the image, which nothing has asked for before this launch. */
TEST(row_of_the_first_launch)
{
    struct rex_queue *queue;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(increment), 1, 1);
    assert_int_equal(rex_queue_create(&queue, -1, NULL, REX_QUEUE_OWN_GLOBALS), 0);
    REX_MAP(args, REX_ALLOC(&counter, 1));
    assert_int_equal(launch_in(queue, &launch, &args), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(in_the_runtime(), 101);
    assert_int_equal(rex_queue_destroy(queue), 0);
}

/* The image is loaded on a device by the first launch or data call there. */
TEST(device_not_used_yet)
{
    struct rex_queue *queue;
    assert_int_equal(rex_offload_init(), 0);
    int last = rex_device_count() - 1;
    assert_int_equal(rex_queue_create(&queue, last, NULL, REX_QUEUE_OWN_GLOBALS), 0);
    if (rex_queue_global(queue, &counter) == NULL) {
        assert_int_not_equal(last, 0);
        assert_int_equal(rex_last_error_code(), REX_EABSENT);
        assert_non_null(strstr(rex_last_error(), "is not on device"));
    }
    REX_MAP(nothing, REX_TO((int64_t *)NULL, 0));
    assert_int_equal(rex_data_enter(last, &nothing), 0);
    assert_non_null(rex_queue_global(queue, &counter));
    assert_int_equal(rex_queue_destroy(queue), 0);
}

TEST(without_offloading)
{
    struct rex_queue *queue;
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    assert_int_equal(rex_queue_create(&queue, -1, NULL, REX_QUEUE_OWN_GLOBALS), 0);
    assert_null(rex_queue_global(queue, &counter));
    assert_int_equal(rex_last_error_code(), REX_EABSENT);
    assert_non_null(strstr(rex_last_error(), "\"counter\" is on no device: offloading is disabled"));
    assert_int_equal(rex_queue_destroy(queue), 0);
}
