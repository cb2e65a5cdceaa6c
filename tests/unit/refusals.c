/*
 * refusals.c - what queues, events, graphs and device memory refuse: which error, with every word of its message, and nothing that was
 * changed. On a GPU and on the host device, where queues are immediate.
 *
 * The driver and libomptarget are fakes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include <time.h>

#include "inqueue.h"
#include "rex.h"
#include "rex/device.h"
#include "queue/queuestate.h"
#include "rex/queue.h"
#include "rex_kmp.h"

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

/* ---- queues ----------------------------------------------------------------------------------------------------------------------- */

static void creating(struct rex_queue *queue)
{
    struct rex_queue *untouched = queue;
    REFUSED(rex_queue_create(NULL, 0, "none", 0), REX_EINVAL, "rex_queue_create: there is no place for the queue");
    for (unsigned flag = 1; flag != 0; flag <<= 1)
        if ((flag & (REX_QUEUE_NO_CACHE | REX_QUEUE_BLOCKING | REX_QUEUE_OWN_GLOBALS)) == 0)
            REFUSED(rex_queue_create(&untouched, 0, "none", flag), REX_EINVAL, "rex_queue_create: unknown flags 0x%x", flag);
    int devices = (int)the_record()->devices;
    REFUSED(rex_queue_create(&untouched, devices + 1, "none", 0), REX_EDEVICE, "device number %d: there are %d devices; %d is the host", devices + 1,
            devices, devices);
    REFUSED(rex_queue_create(&untouched, -2, "none", 0), REX_EDEVICE, "device number -2: there are %d devices; %d is the host", devices, devices);
    CHECK(untouched == queue);
    CHECK_EQUAL(rex_queue_device(queue), 0);
    CHECK(strcmp(queue->name, "one") == 0);
}

static void moving(struct rex_queue *queue)
{
    static char bytes[16] __attribute__((aligned(16)));
    REFUSED(rex_queue_copy_to(queue, NULL, bytes, 1), REX_EINVAL, "rex_queue_copy_to: the device's memory is NULL");
    REFUSED(rex_queue_copy_to(queue, bytes, NULL, 1), REX_EINVAL, "rex_queue_copy_to: the host's memory is NULL");
    REFUSED(rex_queue_copy_from(queue, NULL, bytes, 1), REX_EINVAL, "rex_queue_copy_from: the host's memory is NULL");
    REFUSED(rex_queue_copy_from(queue, bytes, NULL, 1), REX_EINVAL, "rex_queue_copy_from: the device's memory is NULL");
    CHECK_EQUAL(rex_queue_copy_to(queue, NULL, NULL, 0), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, NULL, NULL, 0), REX_OK);
    REFUSED(rex_queue_copy_to(NULL, bytes, bytes, 1), REX_EINVAL, "rex_queue_copy_to: the queue is NULL");
    REFUSED(rex_queue_copy_from(NULL, bytes, bytes, 0), REX_EINVAL, "rex_queue_copy_from: the queue is NULL");
    REFUSED(rex_queue_fill(queue, NULL, bytes, 1, 1), REX_EINVAL, "rex_queue_fill: the memory is NULL");
    REFUSED(rex_queue_fill(queue, bytes, NULL, 1, 1), REX_EINVAL, "rex_queue_fill: the pattern is NULL");
    for (size_t size = 0; size <= 9; size++)
        if (size != 1 && size != 2 && size != 4)
            REFUSED(rex_queue_fill(queue, bytes, bytes, size, 8), REX_EINVAL,
                    "rex_queue_fill: a pattern of %zu bytes; there are 1, 2 and 4", size);
    for (size_t width = 2; width <= 4; width *= 2)
        for (size_t odd = 1; odd < width; odd++) {
            REFUSED(rex_queue_fill(queue, bytes, bytes, width, 8 + odd), REX_EINVAL,
                    "rex_queue_fill: %zu bytes at %p are no whole number of patterns of %zu bytes", 8 + odd, (void *)bytes, width);
            REFUSED(rex_queue_fill(queue, bytes + odd, bytes, width, 8), REX_EINVAL,
                    "rex_queue_fill: 8 bytes at %p are no whole number of patterns of %zu bytes", (void *)(bytes + odd), width);
        }
    REFUSED(rex_queue_host_func(queue, NULL, bytes), REX_EINVAL, "rex_queue_host_func: the function is NULL");
    REFUSED(rex_queue_host_func(NULL, free, NULL), REX_EINVAL, "rex_queue_host_func: the queue is NULL");
    REFUSED(rex_queue_sync(NULL), REX_EINVAL, "rex_queue_sync: the queue is NULL");
    REFUSED(rex_queue_query(NULL), REX_EINVAL, "rex_queue_query: the queue is NULL");
    CHECK_EQUAL(rex_queue_destroy(NULL), REX_OK);
}

static void launching(struct rex_queue *queue)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 32);
    REFUSED(rex_launch(NULL, NULL), REX_EINVAL, "rex_launch: the launch is NULL");
    launch.device = 1;
    REFUSED(launch_in(queue, &launch, NULL), REX_EDEVICE,
            "rex_launch: a launch on device 1, and queue \"one\" is of device 0");
    launch.device = 0;
    CHECK_EQUAL(launch_in(queue, &launch, NULL), REX_EPARAMS); /* the device is right, its two rows are missing */
}

static void updating(struct rex_queue *queue)
{
    static int64_t cells[4];
    int number = rex_queue_device(queue);
    REFUSED(rex_queue_update(NULL, NULL), REX_EINVAL, "rex_queue_update: the queue is NULL");
    REFUSED(rex_queue_update(queue, NULL), REX_EINVAL, "rex_queue_update: the map is NULL");
    REX_MAP(args, REX_SECTION(REX_MAP_TO, cells, 0, 1), REX_SECTION(REX_MAP_FROM, cells, 1, 2));
    REFUSED(rex_queue_update(queue, &args), REX_EABSENT, "queue update: map row 0, 8 bytes at %p, is not mapped whole on device %d%s",
            (void *)cells, number, "; row 0 is REX_SECTION(REX_MAP_TO, cells, 0, 1)");
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, 2 * sizeof cells[0], 0x10000000};
    REFUSED(rex_queue_update(queue, &args), REX_EABSENT, "queue update: map row 1, 16 bytes at %p, is not mapped whole on device %d"
            "; row 1 is REX_SECTION(REX_MAP_FROM, cells, 1, 2)",
            (void *)(cells + 1), number);
    the_record()->mappings[0].size = 0;
}

static void asking_for_globals(struct rex_queue *queue)
{
    static int no_global;
    NO_ADDRESS(rex_queue_global(queue, &no_global), REX_EKEY, "rex_queue_global: %p is no global of the module", (void *)&no_global);
    NO_ADDRESS(rex_queue_global(queue, REX_KERNEL_ID(plain)), REX_EKEY, "rex_queue_global: %p is no global of the module",
               (void *)(uintptr_t)REX_KERNEL_ID(plain));
    NO_ADDRESS(rex_queue_global(NULL, &no_global), REX_EINVAL, "rex_queue_global: the queue is NULL");
}

/* ---- events ----------------------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Between events that are times there lies what lies between them by the same clock, in either direction. */
static void check_times(struct rex_queue *queue, struct rex_event *first, struct rex_event *second)
{
    double seconds, back, before = now();
    CHECK_EQUAL(rex_event_record(first, queue), REX_OK);
    double begin = now();
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    double end = now();
    CHECK_EQUAL(rex_event_record(second, queue), REX_OK);
    double after = now();
    CHECK_EQUAL(rex_event_elapsed(&seconds, first, second), REX_OK);
    CHECK(end - begin - 1e-6 <= seconds && seconds <= after - before + 1e-6);
    CHECK_EQUAL(rex_event_elapsed(&back, second, first), REX_OK);
    CHECK(back == -seconds);
}

static void events(struct rex_queue *queue)
{
    struct rex_event *new, *first, *second;
    double seconds = 42;
    REFUSED(rex_event_create(NULL), REX_EINVAL, "rex_event_create: there is no place for the event");
    CHECK_EQUAL(rex_event_create(&new), REX_OK);
    REFUSED(rex_queue_wait_event(queue, new), REX_EINVAL, "rex_queue_wait_event: the event was never recorded");
    REFUSED(rex_queue_wait_event(queue, NULL), REX_EINVAL, "rex_queue_wait_event: the event is NULL");
    REFUSED(rex_queue_wait_event(NULL, new), REX_EINVAL, "rex_queue_wait_event: the queue is NULL");
    REFUSED(rex_event_record(NULL, queue), REX_EINVAL, "rex_event_record: the event is NULL");
    REFUSED(rex_event_record(new, NULL), REX_EINVAL, "rex_event_record: the queue is NULL");
    REFUSED(rex_event_sync(new), REX_EINVAL, "rex_event_sync: the event was never recorded");
    REFUSED(rex_event_sync(NULL), REX_EINVAL, "rex_event_sync: the event is NULL");
    REFUSED(rex_event_query(new), REX_EINVAL, "rex_event_query: the event was never recorded");
    REFUSED(rex_event_query(NULL), REX_EINVAL, "rex_event_query: the event is NULL");
    CHECK_EQUAL(rex_event_create(&first), REX_OK);
    CHECK_EQUAL(rex_event_create(&second), REX_OK);
    CHECK_EQUAL(rex_event_record(first, queue), REX_OK);
    REFUSED(rex_event_elapsed(NULL, first, first), REX_EINVAL, "rex_event_elapsed: there is no place for the result");
    REFUSED(rex_event_elapsed(&seconds, NULL, first), REX_EINVAL, "rex_event_elapsed: the event is NULL");
    REFUSED(rex_event_elapsed(&seconds, first, NULL), REX_EINVAL, "rex_event_elapsed: the event is NULL");
    REFUSED(rex_event_elapsed(&seconds, new, first), REX_EINVAL, "rex_event_elapsed: the event was never recorded");
    REFUSED(rex_event_elapsed(&seconds, first, new), REX_EINVAL, "rex_event_elapsed: the event was never recorded");
    CHECK(seconds == 42);
    CHECK_EQUAL(rex_event_record(second, queue), REX_OK);
    CHECK_EQUAL(rex_queue_wait_event(queue, first), REX_OK);
    CHECK_EQUAL(rex_event_sync(second), REX_OK);
    CHECK_EQUAL(rex_event_query(second), 1);
    CHECK_EQUAL(rex_event_elapsed(&seconds, first, second), REX_OK);
    if (rex_queue_is_synchronous(queue))
        check_times(queue, first, second);
    else { /* the fake's are 1.5 ms apart */
        CHECK(seconds == 0.0015);
        CHECK_EQUAL(rex_event_elapsed(&seconds, second, first), REX_OK);
        CHECK(seconds == -0.0015);
    }
    rex_event_destroy(second);
    rex_event_destroy(first);
    rex_event_destroy(new);
    rex_event_destroy(NULL);
}

/* ---- graphs ----------------------------------------------------------------------------------------------------------------------- */

static void while_captured(struct rex_queue *queue, struct rex_queue *other, struct rex_event *event, struct rex_graph *graph)
{
    struct rex_graph *none = graph;
    REFUSED(rex_graph_begin(queue), REX_EINVAL, "rex_graph_begin: queue \"one\" is being captured already");
    REFUSED(rex_queue_sync(queue), REX_EINVAL, "rex_queue_sync: queue \"one\" is being captured");
    REFUSED(rex_queue_destroy(queue), REX_EINVAL, "rex_queue_destroy: queue \"one\" is being captured");
    REFUSED(rex_graph_launch(graph, queue), REX_EINVAL, "rex_graph_launch: queue \"one\" is being captured");
    REFUSED(rex_queue_wait_event(queue, event), REX_EINVAL,
            "rex_queue_wait_event: queue \"one\" is being captured, and the event was not recorded in the same graph");
    REFUSED(rex_graph_end(NULL, queue), REX_EINVAL, "rex_graph_end: there is no place for the graph");
    REFUSED(rex_graph_end(&none, other), REX_EINVAL, "rex_graph_end: queue \"other\" has not begun a capture");
    REFUSED(rex_graph_end(&none, NULL), REX_EINVAL, "rex_graph_end: the queue is NULL");
    CHECK(none == graph);
}

/* EVENT was recorded in a graph whose capture has ended. */
static void after_capture(struct rex_queue *queue, struct rex_event *event)
{
    double seconds;
    REFUSED(rex_queue_wait_event(queue, event), REX_EINVAL, "rex_queue_wait_event: the event was recorded in a graph, whose capture has ended");
    REFUSED(rex_event_sync(event), REX_EINVAL, "rex_event_sync: the event was recorded in a graph: record one after rex_graph_launch()");
    REFUSED(rex_event_query(event), REX_EINVAL, "rex_event_query: the event was recorded in a graph: record one after rex_graph_launch()");
    REFUSED(rex_event_elapsed(&seconds, event, event), REX_EINVAL,
            "rex_event_elapsed: the event was recorded in a graph: record one after rex_graph_launch()");
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
            REFUSED(rex_queue_wait_event(more[i], event), REX_EINVAL, "rex_queue_wait_event: more than %d queues in one graph", MOST);
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
    struct rex_graph *empty = NULL, *graph = NULL;
    REFUSED(rex_graph_begin(NULL), REX_EINVAL, "rex_graph_begin: the queue is NULL");
    REFUSED(rex_graph_end(&empty, queue), REX_EINVAL, "rex_graph_end: queue \"one\" has not begun a capture");
    REFUSED(rex_graph_launch(NULL, queue), REX_EINVAL, "rex_graph_launch: the graph is NULL");
    REFUSED(rex_graph_set_args(NULL, 0, NULL), REX_EINVAL, "rex_graph_set_args: the graph is NULL");
    CHECK_EQUAL(rex_queue_create(&other, 0, "other", 0), REX_OK);
    CHECK_EQUAL(rex_event_create(&before), REX_OK);
    CHECK_EQUAL(rex_event_create(&inside), REX_OK);
    CHECK_EQUAL(rex_event_record(before, queue), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&empty, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(empty), 0);
    CHECK_EQUAL(rex_graph_launch(empty, queue), REX_OK);
    REFUSED(rex_graph_launch(empty, NULL), REX_EINVAL, "rex_graph_launch: the queue is NULL");
    REFUSED(rex_graph_set_args(empty, 0, NULL), REX_EINVAL, "rex_graph_set_args: launch 0, and the graph has 0");
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(inside, queue), REX_OK);
    while_captured(queue, other, before, empty);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    after_capture(queue, inside);
    too_many_queues(queue, inside);
    rex_graph_destroy(graph);
    rex_graph_destroy(empty);
    rex_graph_destroy(NULL);
    rex_event_destroy(inside);
    rex_event_destroy(before);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
}

/* A graph of one device does not run on another's queue, and a queue of another takes no part in its capture. */
static void devices(struct rex_queue *queue)
{
    struct rex_queue *hosts;
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    double seconds;
    int host = the_record()->devices;
    CHECK_EQUAL(rex_queue_create(&hosts, host, "host's", 0), REX_OK);
    CHECK(rex_queue_is_synchronous(hosts));
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    REFUSED(rex_queue_wait_event(hosts, event), REX_EINVAL, "rex_queue_wait_event: queue \"host's\" is of device %d, and the graph of device 0", host);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    REFUSED(rex_graph_launch(graph, hosts), REX_EINVAL, "rex_graph_launch: queue \"host's\" is of device %d, and the graph of device 0",
            host);
    REFUSED(rex_queue_wait_event(hosts, event), REX_EINVAL, "rex_queue_wait_event: the event was recorded in a graph, whose capture has ended");
    if (!rex_queue_is_synchronous(queue)) {
        struct rex_event *timed;
        CHECK_EQUAL(rex_event_create(&timed), REX_OK);
        REFUSED(rex_queue_wait_event(hosts, timed), REX_EINVAL, "rex_queue_wait_event: the event was never recorded");
        CHECK_EQUAL(rex_event_record(timed, hosts), REX_OK);
        CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
        CHECK_EQUAL(rex_queue_wait_event(hosts, event), REX_OK);
        CHECK_EQUAL(rex_queue_wait_event(queue, timed), REX_OK);
        REFUSED(rex_event_elapsed(&seconds, event, timed), REX_EINVAL, "rex_event_elapsed: the events are of different devices");
        REFUSED(rex_event_elapsed(&seconds, timed, event), REX_EINVAL, "rex_event_elapsed: the events are of different devices");
        rex_event_destroy(timed);
    }
    rex_graph_destroy(graph);
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(hosts), REX_OK);
}

/* ---- device memory ---------------------------------------------------------------------------------------------------------------- */

static void memory(void)
{
    static char bytes[8];
    int host = the_record()->devices, outside = host + 1;
    REFUSED(rex_device_copy_to(NULL, bytes, 1, 0), REX_EINVAL, "rex_device_copy_to: the destination is NULL");
    REFUSED(rex_device_copy_to(bytes, NULL, 1, 0), REX_EINVAL, "rex_device_copy_to: the source is NULL");
    REFUSED(rex_device_copy_from(NULL, bytes, 1, 0), REX_EINVAL, "rex_device_copy_from: the destination is NULL");
    REFUSED(rex_device_copy_from(bytes, NULL, 1, 0), REX_EINVAL, "rex_device_copy_from: the source is NULL");
    REFUSED(rex_device_copy_to(bytes, bytes, 1, outside), REX_EDEVICE, "device number %d: there are %d devices; %d is the host", outside, host, host);
    REFUSED(rex_device_copy_from(bytes, bytes, 0, outside), REX_EDEVICE, "device number %d: there are %d devices; %d is the host", outside, host, host);
    NO_ADDRESS(rex_device_alloc(8, outside), REX_EDEVICE, "device number %d: there are %d devices; %d is the host", outside, host, host);
    CHECK(rex_mapped_ptr(bytes, outside) == NULL);
    CHECK(rex_mapped_ptr(NULL, 0) == NULL);
    CHECK(!rex_target_is_present(bytes, 8, outside));
    CHECK(!rex_target_is_present(NULL, 8, 0));
    REFUSED(rex_device_gpu(outside), REX_EDEVICE, "device number %d: there are %d devices; %d is the host", outside, host, host);
    uint32_t touches = the_record()->touches;
    CHECK_EQUAL(rex_device_copy_to(bytes, bytes, 0, 0), REX_OK);
    rex_device_free(NULL, 0);
    rex_device_free(bytes, outside);
    CHECK_EQUAL(the_record()->touches, touches);
}

static void pinned(void)
{
    char byte;
    NO_ADDRESS(rex_host_alloc(0), REX_EINVAL, "rex_host_alloc: a size of 0");
    REFUSED(rex_host_free(&byte), REX_EINVAL, "rex_host_free: %p was not made by rex_host_alloc, or is freed already", (void *)&byte);
    CHECK_EQUAL(rex_host_free(NULL), REX_OK);
    REFUSED(rex_host_register(NULL, 8), REX_EINVAL, "rex_host_register: the address is NULL");
    REFUSED(rex_host_register(&byte, 0), REX_EINVAL, "rex_host_register: a size of 0");
    REFUSED(rex_host_register(&byte, SIZE_MAX), REX_EINVAL, "rex_host_register: %zu bytes at %p go past the last address", SIZE_MAX, (void *)&byte);
}

static void launches(void)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 2, 32);
    REFUSED(rex_launch(NULL, NULL), REX_EINVAL, "rex_launch: the launch is NULL");
    REFUSED(rex_module_launch_map(NULL, &launch, NULL), REX_EINVAL, "rex_launch: the module is NULL");
    launch.flags = REX_LAUNCH_STRICT;
    for (int missing = 1; missing <= 3; missing++) {
        launch.teams[0] = missing & 1 ? 0 : 2;
        launch.threads[0] = missing & 2 ? 0 : 32;
        CHECK_EQUAL(rex_launch(&launch, NULL), REX_EINVAL);
        CHECK_MENTIONS(rex_last_error(), "a strict launch of");
    }
}

/* ---- all -------------------------------------------------------------------------------------------------------------------------- */

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
    memory();
    pinned();
    launches();
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
    REFUSED(rex_device_copy_to(bytes, bytes, 1, 0), REX_EINVAL, "rex_device_copy_to: no module is registered, or offloading is disabled");
    REFUSED(rex_device_copy_from(bytes, bytes, 1, 0), REX_EINVAL,
            "rex_device_copy_from: no module is registered, or offloading is disabled");
    NO_ADDRESS(rex_device_alloc(8, 0), REX_EINVAL, "rex_device_alloc: no module is registered, or offloading is disabled");
    REFUSED(rex_device_gpu(0), REX_EDEVICE, "rex_device_gpu: libomptarget has no device before a module is registered");
    CHECK(rex_mapped_ptr(bytes, 0) == NULL);
    CHECK(!rex_target_is_present(bytes, sizeof bytes, 0));
}
