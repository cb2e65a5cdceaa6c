/*
 * Graphs: recorded once, done again and again, with other arguments, and by several queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "steps.h"

REX_KERNEL_DECLARE(follow);
REX_KERNEL(sum);

static int set_follow(struct rex_graph *graph, size_t number, int64_t *value, int64_t addend)
{
    int64_t n = VALUES;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(addend), REX_TOFROM(value, VALUES));
    return rex_graph_set_args(graph, number, &args);
}

static void fetch(struct rex_queue *queue, int64_t *value)
{
    REX_MAP(from, REX_FROM(value, VALUES));
    OK(rex_queue_update(queue, &from));
    OK(rex_queue_sync(queue));
}

/* ---- again and again ------------------------------------------------------------------------- */

/* Other values and pointers for some launches, and then back. */
TEST(changed)
{
    static int64_t value[VALUES], other[VALUES];
    struct rex_queue *queue = new_queue("change", 0);
    REX_MAP(region, REX_TOFROM(value, VALUES), REX_TOFROM(other, VALUES));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        struct rex_graph *graph = record(queue, value, 3);
        OK(set_follow(graph, 1, value, 50));
        OK(rex_graph_launch(graph, queue));
        OK(set_follow(graph, 1, other, 60)); /* does not touch what is under way */
        OK(rex_graph_launch(graph, queue));
        OK(set_follow(graph, 1, value, 1));
        fetch(queue, value);
        fetch(queue, other);
        assert_int_equal(value[0], (((0 * 3 + 50) * 3 + 2) * 3 + 0) * 3 + 2);
        assert_int_equal(other[0], 60);
        int64_t before = value[0];
        OK(rex_graph_launch(graph, queue));
        fetch(queue, value);
        assert_int_equal(value[0], followed(before, 3));
        static int64_t absent[VALUES];
        FAILS(set_follow(graph, 0, absent, 1), REX_EABSENT, "map row 2");
        rex_graph_destroy(graph);
    }
    OK(rex_queue_destroy(queue));
}

/* Copies, fills and calls are part of it. */
static void add_one(void *argument)
{
    ++*(int *)argument;
}

TEST(everything)
{
    static int64_t value[VALUES], result[VALUES];
    struct rex_queue *queue = new_queue("all", 0);
    struct rex_graph *graph = NULL;
    int calls = 0;
    char nought = 0;
    REX_MAP(region, REX_ALLOC(value, VALUES), REX_ALLOC(result, VALUES));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        void *device = rex_mapped_ptr(result, -1);
        int64_t n = VALUES;
        struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(sum), 4, 128);
        REX_MAP(to, REX_TO(value, VALUES));
        REX_MAP(from, REX_FROM(result, VALUES));
        REX_MAP(args, REX_VALUE(n), REX_ALLOC(value, VALUES), REX_ALLOC(result, VALUES),
                REX_ALLOC(result, VALUES));
        OK(rex_graph_begin(queue));
        OK(rex_queue_update(queue, &to));
        OK(rex_queue_fill(queue, device, &nought, 1, sizeof result));
        OK(launch_in(queue, &launch, &args));
        OK(launch_in(queue, &launch, &args));
        OK(rex_queue_update(queue, &from));
        OK(rex_queue_host_func(queue, add_one, &calls));
        OK(rex_graph_end(&graph, queue));
        for (int round = 1; round <= 4; round++) {
            for (int i = 0; i < VALUES; i++)
                value[i] =
                    i * round; /* what is there when it is done counts, not when it was recorded */
            OK(rex_graph_launch(graph, queue));
            OK(rex_queue_sync(queue));
            for (int i = 0; i < VALUES; i++)
                assert_int_equal(result[i], 2 * i * round);
            assert_int_equal(calls, round);
        }
    }
    FAILS(rex_graph_launch(graph, queue), REX_EABSENT, "rex_queue_update: 8000 bytes at ");
    assert_int_equal(calls, 4);
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
}

/* A graph keeps the images of all its kernels, also of modules that have ended. */
TEST(module_that_has_ended, .on = LOADS_LATE, .gpu = ON_GPU)
{
    static char other_key;
    static struct __tgt_offload_entry entry[] = {
        {&other_key, (char *)(uintptr_t) "follow__kernel__", 0, 0, 0}};
    struct rex_module other = {
        .struct_size = sizeof other, .entries_begin = entry, .entries_end = entry + 1};
    struct path image = default_image();
    int64_t value[VALUES] = {0}, n = VALUES, addend = 2;
    struct rex_queue *queue = new_queue("two modules", 0);
    struct rex_graph *graph = NULL;
    OK(rex_offload_init());
    OK(rex_module_register(&other, image.text));
    int64_t *memory = rex_device_alloc(sizeof value, -1);
    OK(rex_queue_copy_to(queue, memory, value, sizeof value));
    OK(rex_graph_begin(queue));
    for (int i = 0; i < 2; i++) {
        const void *key = i == 0 ? REX_KERNEL_ID(follow) : &other_key;
        struct rex_launch_config launch = rex_launch_config_of(key, 4, 128);
        REX_MAP(args, REX_VALUE(n), REX_VALUE(addend), REX_IS_DEVICE_PTR(memory));
        OK(launch_module_in(queue, i == 0 ? &rex_this_module : &other, &launch, &args));
    }
    OK(rex_graph_end(&graph, queue));
    OK(rex_graph_launch(graph, queue));
    OK(rex_queue_sync(queue));
    /* Launches of its own module that are not finished are nothing to the other one. */
    for (int i = 0; i < 4; i++) {
        REX_MAP(args, REX_VALUE(n), REX_VALUE(addend), REX_IS_DEVICE_PTR(memory));
        struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(follow), 8, 128);
        OK(launch_in(queue, &launch, &args));
    }
    OK(rex_module_fini(&other));
    OK(rex_graph_launch(graph, queue));
    OK(rex_queue_copy_from(queue, value, memory, sizeof value));
    OK(rex_queue_sync(queue));
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(value[i], 6560); /* 3 x + 2, eight times */
    rex_graph_destroy(graph);
    rex_device_free(memory, -1);
    OK(rex_queue_destroy(queue));
}

/* ---- two queues in one graph ----------------------------------------------------------------- */

TEST(branches)
{
    static int64_t a[VALUES], b[VALUES], c[VALUES], result[VALUES];
    struct rex_queue *left = new_queue("left", 0), *right = new_queue("right", 0);
    struct rex_event *begun = NULL, *done = NULL;
    struct rex_graph *graph = NULL;
    OK(rex_event_create(&begun));
    OK(rex_event_create(&done));
    REX_MAP(region, REX_TOFROM(a, VALUES), REX_TOFROM(b, VALUES), REX_TOFROM(c, VALUES),
            REX_TOFROM(result, VALUES));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        int64_t n = VALUES;
        struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(sum), 4, 128);
        REX_MAP(args, REX_VALUE(n), REX_ALLOC(a, VALUES), REX_ALLOC(b, VALUES),
                REX_ALLOC(result, VALUES));
        OK(rex_graph_begin(left));
        OK(rex_event_record(begun, left));
        OK(rex_queue_wait_event(right, begun));
        OK(put_follow(left, a, VALUES, 10));
        OK(put_follow(right, b, VALUES, 20));
        OK(put_follow(right, b, VALUES, 21));
        OK(rex_event_record(done, right));
        OK(rex_queue_wait_event(left, done));
        OK(launch_in(left, &launch, &args));
        OK(put_follow(right, c, VALUES, 22)); /* nobody waits for it but the end of the graph */
        FAILS(rex_graph_end(&graph, right), REX_EINVAL, "queue \"right\" has not begun a capture");
        OK(rex_graph_end(&graph, left));
        assert_int_equal(rex_graph_launches(graph), 5);
        OK(put_follow(right, a, VALUES, 5)); /* no longer captured: at once */
        OK(rex_queue_sync(right));
        OK(rex_graph_launch(graph, left));
        OK(rex_queue_sync(left));
        rex_graph_destroy(graph);
    }
    assert_int_equal(a[9], 5 * 3 + 10);
    assert_int_equal(b[9], 20 * 3 + 21);
    assert_int_equal(c[9], 22);
    assert_int_equal(result[9], 25 + 81);
    rex_event_destroy(begun);
    rex_event_destroy(done);
    OK(rex_queue_destroy(left));
    OK(rex_queue_destroy(right));
}
