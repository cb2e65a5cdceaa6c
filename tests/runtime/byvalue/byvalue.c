/*
 * Values of 1 to 24 bytes, by what the kernel's parameters are: right by the driver on every
 * release, and refused by rex_launch() where libomptarget would misplace them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "triple.h"

REX_KERNEL(narrow);
REX_KERNEL(wide);

static struct rex_queue *queue;
static double out[5];

static int start(void **state)
{
    (void)state;
    REX_MAP(region, REX_TOFROM(out, 5));
    return rex_queue_create(&queue, -1, NULL, 0) == REX_OK && rex_data_enter(-1, &region) == REX_OK ? 0 : -1;
}

static int put(const void *key, struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    return launch_in(queue, &launch, map);
}

static void fetch(void)
{
    REX_MAP(from, REX_FROM(out, 5));
    assert_int_equal(rex_queue_update(queue, &from), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
}

TEST(narrow_ones, .set_up = start)
{
    int a = -7;
    float b = 2.5f;
    int16_t c = -300;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_BY_VALUE(c), REX_ALLOC(out, 5));
    assert_int_equal(put(REX_KERNEL_ID(narrow), &args), 0);
    a = 0, b = 0, c = 0;
    fetch();
    assert_true(out[0] == -7 && out[1] == 2.5 && out[2] == -300);
}

TEST(wide_ones, .set_up = start)
{
    struct triple triple = {0.1, 0.5f, 1L << 40};
    char before = 'b';
    int after = 77;
    struct rex_graph *graph = NULL;
    REX_MAP(args, REX_VALUE(before), REX_BY_VALUE(triple), REX_VALUE(after), REX_ALLOC(out, 5));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(wide), 1, 1);
    if (!gpu_present()) {
        assert_int_equal(put(REX_KERNEL_ID(wide), &args), REX_EUNSUPPORTED);
        assert_non_null(strstr(rex_last_error(), "map row 1 is a value of 24 bytes"));
        assert_non_null(strstr(rex_last_error(), ", and map the value; row 1 is REX_BY_VALUE(triple)"));
        assert_int_equal(rex_launch(&launch, &args), REX_EINVAL);
        assert_non_null(strstr(rex_last_error(), "map row 1 is a value of more than 8 bytes"));
        return;
    }
    /* Nothing but the driver can pass this one: a queue's launch, or one that is waited for and
     * goes to it. */
    for (int waits = 0; waits < 2; waits++) {
        triple.x = 0.1 + waits;
        assert_int_equal(waits ? rex_launch(&launch, &args) : put(REX_KERNEL_ID(wide), &args), 0);
        triple.x = 0;
        fetch();
        assert_true(out[0] == 'b' && out[1] == 0.1 + waits && out[2] == 0.5 &&
                    out[3] == (double)(1L << 40) && out[4] == 77);
    }
    /* A graph keeps the bytes. */
    triple.x = 0.2;
    assert_int_equal(rex_graph_begin(queue), 0);
    assert_int_equal(put(REX_KERNEL_ID(wide), &args), 0);
    triple.x = 0;
    assert_int_equal(rex_graph_end(&graph, queue), 0);
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    fetch();
    assert_true(out[1] == 0.2);
    triple.x = 0.3;
    assert_int_equal(rex_graph_set_args(graph, 0, &args), 0);
    triple.x = 0;
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    fetch();
    assert_true(out[1] == 0.3);
    rex_graph_destroy(graph);
}

TEST(wrong_widths, .set_up = start, .gpu = ON_GPU)
{
    int64_t a = 1;
    float b = 1;
    int16_t c = 1;
    REX_MAP(too_wide, REX_VALUE(a), REX_VALUE(b), REX_VALUE(c), REX_ALLOC(out, 5));
    REX_MAP(too_narrow, REX_VALUE(c), REX_VALUE(b), REX_VALUE(c), REX_ALLOC(out, 5));
    REX_MAP(address, REX_ALLOC(out, 5), REX_VALUE(b), REX_VALUE(c), REX_ALLOC(out, 5));
    assert_int_equal(put(REX_KERNEL_ID(narrow), &too_wide), REX_EPARAMS);
    assert_non_null(strstr(rex_last_error(), "parameter 0 has 4 bytes, and the launch passes a value of 8 bytes"));
    assert_int_equal(put(REX_KERNEL_ID(narrow), &too_narrow), REX_EPARAMS);
    assert_int_equal(put(REX_KERNEL_ID(narrow), &address), REX_EPARAMS);
    assert_non_null(strstr(rex_last_error(), "parameter 0 has 4 bytes, and the launch passes an address of 8 bytes"));
}
