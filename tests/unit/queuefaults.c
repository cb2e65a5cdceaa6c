/*
 * queuefaults.c - what queues, events and graphs say when a call of the driver fails: its name. And
 * threads, which ThreadSanitizer can watch here, with no GPU.
 *
 * The driver and libomptarget are fakes. tests/torture has every call fail, and a kernel that fails
 * is tested in runtime/queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include <pthread.h>

#include "inqueue.h"
#include "plain.h"
#include "rex/device.h"
#include "rex/queue.h"

static int launch(struct rex_queue *queue)
{
    struct rex_launch_config description = rex_launch_config_of(&plain_id, 1, 32);
    int64_t a = 1, b = 2;
    description.dynamic_memory = 50000; /* more than the driver grants without being asked */
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    return launch_module_in(queue, &module, &description, &args);
}

static void called(void *argument)
{
    (void)argument;
}

/* Two queues in one graph. */
static void record_branches(struct rex_queue *queue, struct rex_queue *other)
{
    struct rex_event *event;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    CHECK_EQUAL(rex_queue_wait_event(other, event), REX_OK);
    CHECK_EQUAL(launch(other), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    rex_event_destroy(event);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* Every call of FUNCTION returns NUMBER, meanwhile: what CALL says of that. */
#define FAILING(function, number, error, call, ...)                                                \
    do {                                                                                           \
        setenv("FAKE_CUDA_BREAKS", function ":" #number ":0", 1);                                  \
        REFUSED(call, REX_ECUDA, __VA_ARGS__, function ": CUDA_ERROR_" error);                     \
        unsetenv("FAKE_CUDA_BREAKS");                                                              \
    } while (0)
#define BROKEN(function, call, ...) FAILING(function, 719, "LAUNCH_FAILED", call, __VA_ARGS__)

#define LAUNCHED                                                                                   \
    "kernel \"plain\", 1 x 1 x 1 teams of 32 x 1 x 1 threads, 50000 bytes of dynamic "   \
    "shared memory"
#define RETAIN "cuDevicePrimaryCtxRetain"
#define ENTER "cuCtxPushCurrent"

static void say_of_queues(struct rex_queue *queue)
{
    struct rex_queue *none = NULL;
    char bytes[16], *device = (char *)4096;
    BROKEN(RETAIN, rex_module_queue_create(&none, &module, 0, "none", 0, NULL),
           "queue \"none\": %s");
    BROKEN(ENTER, rex_module_queue_create(&none, &module, 0, "none", 0, NULL),
           "queue \"none\": %s");
    BROKEN("cuPointerGetAttribute", rex_module_queue_create(&none, &module, 0, "none", 0, NULL),
           "a queue: %s");
    BROKEN("cuStreamCreateWithPriority", rex_module_queue_create(&none, &module, 0, "none", 0, NULL),
           "queue \"none\": %s");
    CHECK(none == NULL);
    BROKEN(ENTER, launch(queue), "queue \"one\": %s");
    BROKEN("cuMemcpyHtoDAsync", rex_queue_copy_to(queue, device, bytes, 16),
           "queue \"one\": a copy to the device failed, 16 bytes from %p to %p: %s", (void *)bytes,
           (void *)device);
    BROKEN("cuMemcpyDtoHAsync", rex_queue_copy_from(queue, bytes, device, 16),
           "queue \"one\": a copy from the device failed, 16 bytes from %p to %p: %s", (void *)device,
           (void *)bytes);
    BROKEN("cuMemsetD8Async", rex_queue_fill(queue, device, bytes, 1, 16),
           "queue \"one\": a fill failed, 16 bytes at %p: %s", (void *)device);
    BROKEN("cuMemsetD16Async", rex_queue_fill(queue, device, bytes, 2, 2),
           "queue \"one\": a fill failed, 2 bytes at %p: %s", (void *)device);
    BROKEN("cuMemsetD32Async", rex_queue_fill(queue, device, bytes, 4, 4),
           "queue \"one\": a fill failed, 4 bytes at %p: %s", (void *)device);
    BROKEN("cuLaunchHostFunc", rex_queue_host_func(queue, called, NULL), "queue \"one\": rex_queue_host_func failed: %s");
    BROKEN("cuLaunchKernel", launch(queue), LAUNCHED ": %s");
    CHECK_EQUAL(rex_queue_query(queue), 1);
    CHECK_EQUAL(launch(queue), REX_OK);
    BROKEN(ENTER, rex_queue_query(queue), "queue \"one\": %s");
    FAILING("cuStreamQuery", 2, "OUT_OF_MEMORY", rex_queue_query(queue), "queue \"one\": %s");
    BROKEN(ENTER, rex_queue_sync(queue), "queue \"one\": %s");
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
}

static void say_of_events(struct rex_queue *queue)
{
    struct rex_event *event;
    double seconds;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    BROKEN(RETAIN, rex_event_record(event, queue), "queue \"one\": an event could not be made: %s");
    BROKEN("cuEventCreate", rex_event_record(event, queue), "queue \"one\": an event could not be made: %s");
    BROKEN("cuEventRecord", rex_event_record(event, queue), "rex_event_record: %s");
    REFUSED(rex_event_sync(event), REX_EINVAL, "rex_event_sync: the event was never recorded");
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    BROKEN("cuStreamWaitEvent", rex_queue_wait_event(queue, event), "rex_queue_wait_event: %s");
    /* The device is well where a wait alone fails. */
    FAILING("cuEventSynchronize", 2, "OUT_OF_MEMORY", rex_event_sync(event), "rex_event_sync: %s");
    FAILING("cuEventQuery", 2, "OUT_OF_MEMORY", rex_event_query(event), "rex_event_query: %s");
    FAILING("cuEventElapsedTime", 2, "OUT_OF_MEMORY", rex_event_elapsed(&seconds, event, event),
            "rex_event_elapsed: %s");
    CHECK_EQUAL(launch(queue), REX_OK);
    rex_event_destroy(event);
}

/* Two queues and events in a graph, at whose end each of these fails. */
static int end_branches(struct rex_queue *queue, struct rex_queue *other)
{
    struct rex_graph *graph = NULL;
    char broken[64];
    snprintf(broken, sizeof broken, "%s", getenv("FAKE_CUDA_BREAKS"));
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    record_branches(queue, other);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
    int result = rex_graph_end(&graph, queue);
    CHECK(graph == NULL);
    return result;
}

static void say_of_captures(struct rex_queue *queue, struct rex_queue *other)
{
    BROKEN(ENTER, end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN(RETAIN, end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuEventCreate", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuStreamCreate", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuStreamBeginCapture", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuStreamGetCaptureInfo", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuEventRecord", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuStreamWaitEvent", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuStreamEndCapture", end_branches(other, queue), "a graph of queue \"other\" could not be made: %s");
    BROKEN("cuGraphInstantiate", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    BROKEN("cuGraphUpload", end_branches(queue, other), "a graph of queue \"one\" could not be made: %s");
    /* Where something has failed before, that is what is said. */
    BROKEN("cuLaunchKernel", end_branches(queue, other), LAUNCHED ": %s");
}

static void say_of_graphs(struct rex_queue *queue)
{
    struct rex_graph *graph = NULL;
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(b), REX_VALUE(a));
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    BROKEN(ENTER, launch(queue), "a launch in a graph of queue \"one\": the context of GPU 0 cannot be used: %s");
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(graph), 2);
    BROKEN(ENTER, rex_graph_launch(graph, queue), "rex_graph_launch: %s");
    BROKEN("cuGraphLaunch", rex_graph_launch(graph, queue), "queue \"one\": a graph could not be launched (launches in the graph: 2): %s");
    REFUSED(rex_graph_set_args(graph, 2, &args), REX_EINVAL,
            "rex_graph_set_args: launch 2 does not exist (launches in the graph: 2)");
    BROKEN("cuGraphExecKernelNodeSetParams", rex_graph_set_args(graph, 1, &args),
           "kernel \"plain\" in a graph: its arguments could not be set: %s");
    BROKEN(ENTER, rex_graph_set_args(graph, 1, &args), "a launch in a graph of queue \"one\": the context of GPU 0 cannot be used: %s");
    /* The first one looks whether the launch is right. */
    setenv("FAKE_CUDA_BREAKS", ENTER ":719:2", 1);
    REFUSED(rex_graph_set_args(graph, 1, &args), REX_ECUDA,
            "a launch in a graph of queue \"one\": the context of GPU 0 cannot be used: " ENTER ": CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_graph_set_args(graph, 1, &args), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    REFUSED(rex_graph_set_args(graph, 1, &args), REX_EINVAL, "module tests/data/sm_90.cubin is not registered: call rex_module_register() first");
    rex_graph_destroy(graph);
}

TEST_IN_CHILD(say_what_failed)
{
    struct rex_queue *queue = NULL, *other = NULL;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "one", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 0, "other", 0, NULL), REX_OK);
    say_of_queues(queue);
    say_of_events(queue);
    say_of_captures(queue, other);
    say_of_graphs(queue);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0);
}

/* ---- lost devices ---------------------------------------------------------------------------- */

/* What is put in a queue fails for the work of another. */
TEST_OF_EACH(lose_in_another, bool, by_graph, false, true)
{
    struct rex_queue *queue, *idle;
    struct rex_graph *graph;
    static int64_t value[4];
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    use_release(22);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 2;
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 1, "doomed", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&idle, &module, 1, "idle", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_graph_begin(idle), REX_OK);
    CHECK_EQUAL(launch(idle), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, idle), REX_OK);
    CHECK(launch(idle) == REX_OK && rex_queue_sync(idle) == REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    CHECK_EQUAL(by_graph ? rex_graph_launch(graph, idle)
                         : rex_queue_fill(idle, (void *)4096, "", 1, 16),
                REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(),
                   by_graph ? "a graph could not be launched (launches in the graph: 1): cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED"
                            : "queue \"idle\": a fill failed, 16 bytes at 0x1000: cuMemsetD8Async: CUDA_ERROR_LAUNCH_FAILED");
    REFUSED(by_graph ? rex_graph_launch(graph, idle) : launch(idle), REX_ECUDA,
            "queue \"idle\": device 1 is lost: cuStreamQuery: CUDA_ERROR_LAUNCH_FAILED");
    REX_MAP(map, REX_TO(value, 4));
    CHECK_EQUAL(rex_module_data_enter(&module, 1, &map), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(),
                   "data enter: device 1 is lost until the process ends, because queue \"idle\" failed: cuStreamQuery");
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &map), REX_OK);
    CHECK_EQUAL(by_graph ? rex_queue_sync(queue) : launch(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"doomed\": ");
    CHECK_MENTIONS(rex_last_error(), "\"plain\"");
    rex_graph_destroy(graph);
}

/* A kernel of another call has failed: the launch finds out, whatever the stream says. */
TEST_IN_CHILD(lose_at_launch)
{
    struct rex_queue *queue;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "one", 0, NULL), REX_OK);
    FAILING("cuLaunchKernel", 700, "ILLEGAL_ADDRESS", launch(queue), LAUNCHED ": %s");
    CHECK_EQUAL(launch(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"one\": device 0 is lost: cuLaunchKernel");
    CHECK_EQUAL(rex_module_fini(&module), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "is lost until the process ends, because queue \"one\" failed: cuLaunchKernel");
}

/* A driver without graphs has no queues; the rest works. */
TEST_IN_CHILD(be_old)
{
    struct rex_queue *queue = NULL;
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, NULL, 0, NULL), REX_EUNSUPPORTED);
    CHECK_MENTIONS(
        rex_last_error(),
        "the CUDA driver lacks cuStreamBeginCapture_v2, which came with CUDA 10.1");
    CHECK(queue == NULL);
    /* Of large copies it has nothing for threads: libomptarget makes them. */
    static unsigned char large[8 << 20];
    setenv("REX_COPY_THREADS", "3", 1);
    void *memory = rex_device_alloc(sizeof large, 0);
    CHECK(memory != NULL);
    CHECK_EQUAL(rex_device_copy_to(memory, large, sizeof large, 0), REX_OK);
    rex_device_free(memory, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 8, LAUNCHES = 200, RECORDS = 5000 };

/* Everything that threads may do at once, in one queue for all of them or in one each. */
static void *use_in_thread(void *argument)
{
    struct rex_queue *queue = argument;
    struct rex_event *event;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK_EQUAL(launch(queue), REX_OK);
        if (i % 20 == 0) {
            CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
            CHECK_EQUAL(rex_queue_wait_event(queue, event), REX_OK);
            CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
            CHECK_EQUAL(rex_queue_query(queue) >= 0, 1);
        }
    }
    rex_event_destroy(event);
    return NULL;
}

/* Meanwhile another queue is recorded and replayed, and regions end. */
static void *use_graphs_in_thread(void *argument)
{
    struct rex_graph *graph;
    struct rex_queue *queue = argument;
    for (int i = 0; i < LAUNCHES / 10; i++) {
        CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
        CHECK_EQUAL(launch(queue), REX_OK);
        CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
        rex_mappings_changed();
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
        rex_graph_destroy(graph);
    }
    return NULL;
}

TEST_IN_CHILD(use_threads)
{
    struct rex_queue *queue[THREADS + 1]; /* the last is captured */
    pthread_t thread[THREADS + 1];
    use_gpu(90);
    use_release(22);
    /* Not in the threads: the fake libomptarget is no good for several. */
    for (int i = 0; i <= THREADS; i++)
        CHECK_EQUAL(rex_module_queue_create(&queue[i], &module, 0, NULL, 0, NULL), REX_OK);
    for (int own = 0; own < 2; own++) {
        for (int i = 0; i < THREADS; i++)
            CHECK_EQUAL(pthread_create(&thread[i], NULL, use_in_thread, queue[own ? i : 0]), 0);
        CHECK_EQUAL(pthread_create(&thread[THREADS], NULL, use_graphs_in_thread, queue[THREADS]),
                    0);
        for (int i = 0; i <= THREADS; i++)
            CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    }
    for (int i = 0; i <= THREADS; i++)
        CHECK_EQUAL(rex_queue_destroy(queue[i]), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* One event, recorded by one thread on one GPU and the other in turn, while another thread waits
 * for it. */
struct shared {
    struct rex_event *event;
    struct rex_queue *queue[2];
    int over; /* nothing will be recorded any more */
};

static void *wait_in_thread(void *argument)
{
    struct shared *shared = argument;
    double seconds;
    while (!__atomic_load_n(&shared->over, __ATOMIC_RELAXED)) {
        CHECK_EQUAL(rex_event_sync(shared->event), REX_OK);
        /* It may be recorded again, on the other GPU, between two looks at it. */
        int done = rex_event_query(shared->event);
        CHECK(done == 0 || done == 1);
        int result = rex_event_elapsed(&seconds, shared->event, shared->event);
        CHECK(result == REX_OK || result == REX_EINVAL);
    }
    return NULL;
}

static void *record_in_thread(void *argument)
{
    struct shared *shared = argument;
    for (int i = 0; i < RECORDS; i++)
        CHECK_EQUAL(rex_event_record(shared->event, shared->queue[i % 2]), REX_OK);
    __atomic_store_n(&shared->over, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST_IN_CHILD(share_event)
{
    struct shared shared = {.over = 0};
    pthread_t thread[2];
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&shared.queue[0], &module, 0, "first GPU", 0, NULL),
                REX_OK);
    the_record()->devices = 2;
    setenv("FAKE_CUDA_ORDINAL", "1", 1);
    CHECK_EQUAL(rex_module_queue_create(&shared.queue[1], &module, 1, "second GPU", 0, NULL),
                REX_OK);
    CHECK_EQUAL(rex_event_create(&shared.event), REX_OK);
    CHECK_EQUAL(rex_event_record(shared.event, shared.queue[0]), REX_OK);
    CHECK_EQUAL(pthread_create(&thread[0], NULL, wait_in_thread, &shared), 0);
    CHECK_EQUAL(pthread_create(&thread[1], NULL, record_in_thread, &shared), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    CHECK_EQUAL(rex_event_sync(shared.event), REX_OK);
    CHECK_EQUAL(rex_event_query(shared.event), 1);
    rex_event_destroy(shared.event);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_queue_destroy(shared.queue[i]), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}
