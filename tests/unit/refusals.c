/*
 * refusals.c - refusals of queues, events, graphs and memory (of NULL: script/null):
 * tests/golden/messages/queue.txt has which error, with every word of its message. Nothing is
 * changed. On a GPU and on the host device, where queues are immediate.
 *
 * The driver and libomptarget are fakes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "inqueue.h"
#include "rex.h"
#include "rex/device.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "support/messages.h"
#include "trace/trace.h"

MESSAGES("queue");

REX_KERNEL(plain);

enum { HOST, GPU };

static struct rex_queue *start(int where)
{
    struct rex_queue *queue = NULL;
    setenv("REX_LOG", "off", 1); /* so that what is wrong can be seen */
    use_gpu(where == GPU ? 90 : 0);
    use_release(19);
    rex_this_module.image_name = where == GPU ? "tests/data/sm_90.cubin" : FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&rex_this_module, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_create(&queue, 0, "one", 0), REX_OK);
    CHECK_EQUAL(rex_queue_is_synchronous(queue), where == HOST);
    return queue;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void creating(struct rex_queue *queue)
{
    struct rex_queue *untouched = queue;
    for (unsigned flag = 1; flag != 0; flag <<= 1)
        if ((flag & (REX_QUEUE_NO_CACHE | REX_QUEUE_BLOCKING | REX_QUEUE_OWN_GLOBALS |
                     REX_QUEUE_PRIORITY(15))) == 0)
            CHECK_EQUAL(rex_queue_create(&untouched, 0, "none", flag), REX_EINVAL);
    REFUSED(rex_queue_create(&untouched, 0, "none", 0x80000000u));
    int devices = (int)the_record()->devices;
    REFUSED(rex_queue_create(&untouched, devices + 1, "none", 0));
    REFUSED(rex_queue_create(&untouched, -2, "none", 0));
    CHECK(untouched == queue);
    CHECK_EQUAL(rex_queue_device(queue), 0);
}

static void moving(struct rex_queue *queue)
{
    static char bytes[16] __attribute__((aligned(16)));
    CHECK_EQUAL(rex_queue_copy_to(queue, NULL, NULL, 0), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, NULL, NULL, 0), REX_OK);
    for (size_t size = 0; size <= 8; size++)
        if (size == 0 || size == 3 || size == 8)
            REFUSED(rex_queue_fill(queue, bytes, bytes, size, 8));
    for (size_t width = 2; width <= 4; width *= 2)
        for (size_t odd = 1; odd < width; odd++) {
            REFUSED(rex_queue_fill(queue, bytes, bytes, width, 8 + odd));
            REFUSED(rex_queue_fill(queue, bytes + odd, bytes, width, 8));
        }
    CHECK_EQUAL(rex_queue_destroy(NULL), REX_OK);
}

static void launching(struct rex_queue *queue)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 32);
    launch.device = 1;
    REFUSED(launch_in(queue, &launch, NULL));
    launch.device = 0;
    REFUSED(launch_in(queue, &launch, NULL)); /* the device is right, its two rows are missing */
    REX_MAP(absent, REX_VALUE(INT64_C(1)), REX_TO(&launch.device, 1));
    REFUSED(launch_in(queue, &launch, &absent));
    launch.key = &launch;
    REFUSED(launch_in(queue, &launch, &absent));
}

static void updating(struct rex_queue *queue)
{
    static int64_t cells[4];
    struct rex_graph *graph;
    REX_MAP(args, REX_SECTION(REX_MAP_TO, cells, 0, 1), REX_SECTION(REX_MAP_FROM, cells, 1, 2));
    REFUSED(rex_queue_update(queue, &args));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, 2 * sizeof cells[0],
                                                      0x10000000};
    REFUSED(rex_queue_update(queue, &args));
    /* What a graph updates may have been unmapped since, and then mapped elsewhere. */
    the_record()->mappings[0].size = sizeof cells;
    CHECK(rex_graph_begin(queue) == REX_OK && rex_queue_update(queue, &args) == REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    the_record()->mappings[0].size = 0;
    rex_mappings_changed();
    REFUSED(rex_graph_launch(graph, queue));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, 0x20000000};
    if (!rex_queue_is_synchronous(queue))
        CHECK(rex_graph_launch(graph, queue) == REX_OK && driver_calls("cuGraphInstantiate") == 2);
    the_record()->mappings[0].size = 0;
    rex_graph_destroy(graph);
}

static void asking_for_globals(struct rex_queue *queue)
{
    static int no_global;
    NO_RESULT(rex_queue_global(queue, &no_global));
    NO_RESULT(rex_queue_global(queue, REX_KERNEL_ID(plain)));
}

/* ---- events ---------------------------------------------------------------------------------- */

static void events(struct rex_queue *queue)
{
    struct rex_event *new, *first, *second;
    double seconds = 42, back;
    CHECK_EQUAL(rex_event_create(&new), REX_OK);
    REFUSED(rex_queue_wait_event(queue, new));
    REFUSED(rex_event_sync(new));
    REFUSED(rex_event_query(new));
    CHECK_EQUAL(rex_event_create(&first), REX_OK);
    CHECK_EQUAL(rex_event_create(&second), REX_OK);
    const uint64_t begin = rex_trace_clock();
    CHECK_EQUAL(rex_event_record(first, queue), REX_OK);
    REFUSED(rex_event_elapsed(&seconds, new, first));
    REFUSED(rex_event_elapsed(&seconds, first, new));
    CHECK(seconds == 42);
    CHECK_EQUAL(rex_event_record(second, queue), REX_OK);
    const double most = 1e-9 * (double)(rex_trace_clock() - begin);
    CHECK_EQUAL(rex_queue_wait_event(queue, first), REX_OK);
    CHECK_EQUAL(rex_event_sync(second), REX_OK);
    CHECK_EQUAL(rex_event_query(second), 1);
    CHECK_EQUAL(rex_event_elapsed(&seconds, first, second), REX_OK);
    CHECK(rex_queue_is_synchronous(queue) ? seconds > 0 && seconds <= most : seconds == 0.0015); /* the fake's */
    CHECK_EQUAL(rex_event_elapsed(&back, second, first), REX_OK);
    CHECK(back == -seconds);
    rex_event_destroy(second);
    rex_event_destroy(first);
    rex_event_destroy(new);
    rex_event_destroy(NULL);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void while_captured(struct rex_queue *queue, struct rex_queue *other,
                           struct rex_event *event, struct rex_graph *graph)
{
    struct rex_graph *none = graph;
    REFUSED(rex_graph_begin(queue));
    REFUSED(rex_queue_sync(queue));
    REFUSED(rex_queue_query(queue));
    REFUSED(rex_queue_destroy(queue));
    REFUSED(rex_graph_launch(graph, queue));
    REFUSED(rex_queue_wait_event(queue, event));
    REFUSED(rex_graph_end(&none, other));
    CHECK(none == graph);
}

/* EVENT was recorded in a graph whose capture has ended. */
static void after_capture(struct rex_queue *queue, struct rex_event *event)
{
    double seconds;
    REFUSED(rex_queue_wait_event(queue, event));
    REFUSED(rex_event_sync(event));
    REFUSED(rex_event_query(event));
    REFUSED(rex_event_elapsed(&seconds, event, event));
}

/* The queue that begins a graph, and one more than it can have that wait for it. */
static void too_many_queues(struct rex_queue *queue, struct rex_event *event)
{
    enum { MOST = 32 };
    struct rex_queue *more[MOST];
    struct rex_graph *graph = NULL;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    for (int i = 0; i < MOST; i++) {
        CHECK_EQUAL(rex_queue_create(&more[i], 0, "more", 0), REX_OK);
        if (i < MOST - 1)
            CHECK_EQUAL(rex_queue_wait_event(more[i], event), REX_OK);
        else
            REFUSED(rex_queue_wait_event(more[i], event));
    }
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    rex_graph_destroy(graph);
    for (int i = 0; i < MOST; i++)
        CHECK_EQUAL(rex_queue_destroy(more[i]), REX_OK);
}

static void graphs(struct rex_queue *queue)
{
    struct rex_queue *other;
    struct rex_event *before, *inside;
    struct rex_graph *empty = NULL, *graph = NULL, *others = NULL;
    REFUSED(rex_graph_end(&empty, queue));
    CHECK_EQUAL(rex_queue_create(&other, 0, NULL, 0), REX_OK); /* it gets a name of its own, */
    CHECK_EQUAL(rex_event_create(&before), REX_OK);
    CHECK_EQUAL(rex_event_create(&inside), REX_OK);
    CHECK_EQUAL(rex_event_record(before, queue), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&empty, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(empty), 0);
    CHECK_EQUAL(rex_graph_launch(empty, queue), REX_OK);
    REFUSED(rex_graph_set_args(empty, 0, NULL));
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(inside, queue), REX_OK);
    while_captured(queue, other, before, empty);
    /* Of two captures at once an event of one is none of the other, and either may end first. */
    CHECK(rex_graph_begin(other) == REX_OK && rex_event_record(before, other) == REX_OK);
    REFUSED(rex_queue_wait_event(queue, before));
    REFUSED(rex_queue_wait_event(other, inside));
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&others, other), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK); /* records no event */
    after_capture(queue, inside);
    too_many_queues(queue, inside);
    rex_graph_destroy(graph);
    rex_graph_destroy(others);
    rex_graph_destroy(empty);
    rex_graph_destroy(NULL);
    rex_event_destroy(inside);
    rex_event_destroy(before);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
}

/* A graph of one device does not run on another's queue, and a queue of another takes no part in
 * its capture. */
static void devices(struct rex_queue *queue)
{
    struct rex_queue *hosts;
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    double seconds;
    int host = the_record()->devices;
    CHECK_EQUAL(rex_queue_create(&hosts, host, NULL, 0), REX_OK); /* and this one another */
    CHECK(rex_queue_is_synchronous(hosts));
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    REFUSED(rex_queue_wait_event(hosts, event));
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    REFUSED(rex_graph_launch(graph, hosts));
    REFUSED(rex_queue_wait_event(hosts, event));
    if (!rex_queue_is_synchronous(queue)) {
        struct rex_event *timed;
        CHECK_EQUAL(rex_event_create(&timed), REX_OK);
        REFUSED(rex_queue_wait_event(hosts, timed));
        CHECK_EQUAL(rex_event_record(timed, hosts), REX_OK);
        CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
        CHECK_EQUAL(rex_queue_wait_event(hosts, event), REX_OK);
        CHECK_EQUAL(rex_queue_wait_event(queue, timed), REX_OK);
        REFUSED(rex_event_elapsed(&seconds, event, timed));
        REFUSED(rex_event_elapsed(&seconds, timed, event));
        rex_event_destroy(timed);
    }
    rex_graph_destroy(graph);
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(hosts), REX_OK);
}

/* ---- all ------------------------------------------------------------------------------------- */

TEST_OF_EACH(refuse, int, where, HOST, GPU)
{
    struct rex_queue *queue = start(where);
    int objects = where == GPU ? driver_objects() : 0;
    creating(queue);
    moving(queue);
    launching(queue);
    updating(queue);
    asking_for_globals(queue);
    events(queue);
    graphs(queue);
    devices(queue);
    /* Whatever was refused, the queue can be used, and nothing is left behind. */
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(where == GPU ? driver_objects() : 0, objects);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* Before a module is registered there is no device. */
TEST_IN_CHILD(before_registration)
{
    char bytes[8];
    use_gpu(90);
    use_release(19);
    REFUSED(rex_device_copy_to(bytes, bytes, 1, 0));
    REFUSED(rex_device_copy_from(bytes, bytes, 1, 0));
    NO_RESULT(rex_device_alloc(8, 0));
    REFUSED(rex_device_gpu(0));
    REFUSED(rex_host_register(bytes, 0));
    REFUSED(rex_host_register(bytes, SIZE_MAX));
    CHECK(rex_mapped_ptr(bytes, 0) == NULL);
    CHECK(!rex_target_is_present(bytes, sizeof bytes, 0));
}
