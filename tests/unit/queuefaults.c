/*
 * queuefaults.c - each call of the driver that queues and graphs make, failing: an error that names it, and nothing that stays behind.
 * And threads, which ThreadSanitizer can watch here, with no GPU.
 *
 * The driver and libomptarget are fakes. What they do when nothing fails is tested on real ones, in tests/runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include <pthread.h>

#include "inqueue.h"
#include "rex/entry.h"
#include "rex/device.h"
#include "rex/queue.h"
#include "memory/rowcheck.h"
#include "queue/event.h"
#include "queue/graph.h"

/* Of tests/data/kernels.cu: its parameters are one value and one address. */
REX_KERNEL(plain);

static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

/* ---- everything that a queue can do ------------------------------------------------------------------------------------------------- */

struct outcome {
    const char *broken; /* the function that fails */
    int failures;       /* of librex's calls that said so */
};

/* A call may fail for what is broken, and for nothing else. */
static int note(struct outcome *outcome, int result)
{
    if (result == REX_OK || result == 1)
        return result;
    CHECK_EQUAL(result, REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), outcome->broken);
    CHECK_MENTIONS(rex_last_error(), "CUDA_ERROR_LAUNCH_FAILED");
    outcome->failures++;
    return result;
}
#define TRY(call) note(outcome, (call))

static int launch(struct rex_queue *queue)
{
    struct rex_launch_config description = rex_launch_config_of(&plain__id__, 1, 32);
    int64_t a = 1, b = 2;
    description.dynamic_memory = 50000; /* more than the driver grants without being asked */
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    return launch_module_in(queue, &module, &description, &args);
}

static void called(void *argument)
{
    (void)argument;
}

static void use_queue(struct rex_queue *queue, struct outcome *outcome)
{
    char bytes[16], *device = (char *)4096;
    for (int i = 0; i < 3; i++)
        TRY(launch(queue));
    TRY(rex_queue_copy_to(queue, device, bytes, sizeof bytes));
    TRY(rex_queue_copy_from(queue, bytes, device, sizeof bytes));
    for (size_t width = 1; width <= 4; width *= 2)
        TRY(rex_queue_fill(queue, device, bytes, width, sizeof bytes));
    TRY(rex_queue_host_func(queue, called, NULL));
    TRY(rex_queue_query(queue));
    TRY(launch(queue));
    TRY(rex_queue_sync(queue));
}

static void use_events(struct rex_queue *queue, struct outcome *outcome)
{
    struct rex_event *event;
    double seconds;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    if (TRY(rex_event_record(event, queue)) == REX_OK) {
        TRY(rex_queue_wait_event(queue, event));
        TRY(rex_event_sync(event));
        TRY(rex_event_query(event));
        TRY(rex_event_elapsed(&seconds, event, event));
    }
    rex_event_destroy(event);
}

/* Two queues in one graph. */
static void record_branches(struct rex_queue *queue, struct rex_queue *other, struct outcome *outcome)
{
    struct rex_event *event;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    TRY(launch(queue));
    TRY(rex_event_record(event, queue));
    TRY(rex_queue_wait_event(other, event));
    TRY(launch(other));
    TRY(launch(queue));
    rex_event_destroy(event);
}

static void use_graph(struct rex_queue *queue, struct rex_queue *other, struct outcome *outcome)
{
    struct rex_graph *graph = NULL;
    int64_t a = 1, b = 2;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    record_branches(queue, other, outcome);
    if (TRY(rex_graph_end(&graph, queue)) != REX_OK)
        return;
    REX_MAP(args, REX_VALUE(b), REX_VALUE(a));
    TRY(rex_graph_launch(graph, queue));
    if (rex_graph_launches(graph) > 0)
        TRY(rex_graph_set_args(graph, 0, &args));
    TRY(rex_graph_launch(graph, queue));
    rex_graph_destroy(graph);
}

static void use_everything(struct outcome *outcome)
{
    struct rex_queue *queue = NULL, *other = NULL;
    if (TRY(rex_module_queue_create(&queue, &module, 0, "first", 0, NULL)) == REX_OK &&
        TRY(rex_module_queue_create(&other, &module, 0, "second", 0, NULL)) == REX_OK) {
        use_queue(queue, outcome);
        use_events(queue, outcome);
        use_graph(queue, other, outcome);
    }
    TRY(rex_queue_destroy(queue));
    TRY(rex_queue_destroy(other));
}

/* ---- one after the other ------------------------------------------------------------------------------------------------------------- */

struct fault {
    const char *function;
    int number; /* which of its calls fails; 0: all */
    int silent; /* nobody is told: what is destroyed is gone */
};

static const struct fault faults[] = {
    {"cuPointerGetAttribute", 1, 0}, {"cuStreamCreate", 1, 0},       {"cuStreamCreate", 2, 0},
    {"cuStreamCreate", 3, 0},        {"cuStreamCreate", 4, 0},       {"cuModuleLoadData", 1, 0},
    {"cuModuleGetFunction", 0, 0},   {"cuFuncLoad", 0, 0},           {"cuLaunchKernel", 1, 0},       {"cuLaunchKernel", 3, 0},
    {"cuLaunchKernel", 5, 0},        {"cuLaunchKernel", 6, 0},       {"cuMemcpyHtoDAsync", 1, 0},
    {"cuMemcpyDtoHAsync", 1, 0},     {"cuMemsetD8Async", 1, 0},      {"cuMemsetD16Async", 1, 0},
    {"cuMemsetD32Async", 1, 0},      {"cuLaunchHostFunc", 1, 0},     {"cuEventCreate", 1, 0},
    {"cuEventCreate", 2, 0},         {"cuEventRecord", 1, 0},        {"cuEventRecord", 2, 0},
    {"cuEventRecord", 3, 0},         {"cuStreamWaitEvent", 1, 0},    {"cuStreamWaitEvent", 2, 0},
    {"cuStreamWaitEvent", 3, 0},     {"cuEventSynchronize", 1, 0},   {"cuEventQuery", 1, 0},
    {"cuEventElapsedTime", 1, 0},    {"cuStreamBeginCapture", 1, 0}, {"cuStreamEndCapture", 1, 0},
    {"cuStreamGetCaptureInfo", 1, 0}, {"cuStreamGetCaptureInfo", 2, 0}, {"cuGraphInstantiate", 1, 0},
    {"cuGraphUpload", 1, 0},         {"cuGraphLaunch", 1, 0},        {"cuGraphLaunch", 2, 0},
    {"cuGraphExecKernelNodeSetParams", 1, 0},
    {"cuStreamDestroy", 1, 1},       {"cuEventDestroy", 1, 1},       {"cuGraphExecDestroy", 1, 1},
    {"cuGraphDestroy", 1, 1},
    /* A kernel that could not be loaded with its image is loaded at its launch. */
    {"cuModuleGetFunction", 1, 1},   {"cuFuncLoad", 1, 1},
};

TEST_FOR_EACH(break_one, fault, faults)
{
    struct outcome outcome = {fault->function, 0};
    char setting[80];
    snprintf(setting, sizeof setting, "%s:719:%d", fault->function, fault->number);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    int users = context_users();
    use_everything(&outcome);
    CHECK_EQUAL(outcome.failures > 0, !fault->silent);
    /* And once more, with nothing broken any more. */
    unsetenv("FAKE_CUDA_BREAKS");
    outcome = (struct outcome){"nothing", 0};
    use_everything(&outcome);
    CHECK_EQUAL(outcome.failures, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), users - 1); /* the registration's own */
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0); /* whatever context was entered was left */
}

/* ---- what is said ------------------------------------------------------------------------------------------------------------------- */

/* Every call of FUNCTION fails, meanwhile: what CALL says of that. */
#define BROKEN(function, call, ...)                               \
    do {                                                          \
        setenv("FAKE_CUDA_BREAKS", function ":719:0", 1);         \
        REFUSED(call, REX_ECUDA, __VA_ARGS__, function ": CUDA_ERROR_LAUNCH_FAILED"); \
        unsetenv("FAKE_CUDA_BREAKS");                             \
    } while (0)

#define LAUNCHED "kernel \"plain__kernel__\", 1 x 1 x 1 teams of 32 x 1 x 1 threads, 50000 bytes of dynamic shared memory"
#define RETAIN "cuDevicePrimaryCtxRetain"
#define ENTER "cuCtxPushCurrent"

static void say_of_queues(struct rex_queue *queue)
{
    struct rex_queue *none = NULL;
    char bytes[16], *device = (char *)4096;
    BROKEN(RETAIN, rex_module_queue_create(&none, &module, 0, "none", 0, NULL), "queue \"none\": %s");
    BROKEN(ENTER, rex_module_queue_create(&none, &module, 0, "none", 0, NULL), "queue \"none\": %s");
    BROKEN("cuStreamCreate", rex_module_queue_create(&none, &module, 0, "none", 0, NULL), "queue \"none\": %s");
    CHECK(none == NULL);
    BROKEN(ENTER, launch(queue), "queue \"one\": %s");
    BROKEN("cuMemcpyHtoDAsync", rex_queue_copy_to(queue, device, bytes, 16), "a copy to the device: %s");
    BROKEN("cuMemcpyDtoHAsync", rex_queue_copy_from(queue, bytes, device, 16), "a copy from the device: %s");
    BROKEN("cuMemsetD8Async", rex_queue_fill(queue, device, bytes, 1, 16), "a fill: %s");
    BROKEN("cuMemsetD16Async", rex_queue_fill(queue, device, bytes, 2, 16), "a fill: %s");
    BROKEN("cuMemsetD32Async", rex_queue_fill(queue, device, bytes, 4, 16), "a fill: %s");
    BROKEN("cuLaunchHostFunc", rex_queue_host_func(queue, called, NULL), "a call from a queue: %s");
    BROKEN("cuLaunchKernel", launch(queue), LAUNCHED ": %s");
    CHECK_EQUAL(rex_queue_query(queue), 1);
    CHECK_EQUAL(launch(queue), REX_OK);
    BROKEN(ENTER, rex_queue_query(queue), "queue \"one\": %s");
    BROKEN(ENTER, rex_queue_sync(queue), "queue \"one\": %s");
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
}

static void say_of_events(struct rex_queue *queue)
{
    struct rex_event *event;
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    int users = context_users();
    BROKEN(RETAIN, rex_event_record(event, queue), "an event: %s");
    BROKEN("cuEventCreate", rex_event_record(event, queue), "an event: %s");
    CHECK_EQUAL(context_users(), users);
    BROKEN("cuEventRecord", rex_event_record(event, queue), "rex_event_record: %s");
    REFUSED(rex_event_sync(event), REX_EINVAL, "rex_event_sync: the event was never recorded");
    CHECK_EQUAL(context_users(), users + 1);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    BROKEN("cuStreamWaitEvent", rex_queue_wait_event(queue, event), "rex_queue_wait_event: %s");
    rex_event_destroy(event);
    CHECK_EQUAL(context_users(), users);
}

/* Two queues and events in a graph, at whose end each of these fails. */
static int end_branches(struct rex_queue *queue, struct rex_queue *other)
{
    struct outcome outcome = {"nothing", 0};
    struct rex_graph *graph = NULL;
    char broken[64];
    snprintf(broken, sizeof broken, "%s", getenv("FAKE_CUDA_BREAKS"));
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    record_branches(queue, other, &outcome);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
    int result = rex_graph_end(&graph, queue);
    CHECK(graph == NULL);
    return result;
}

static void say_of_captures(struct rex_queue *queue, struct rex_queue *other)
{
    int objects = driver_objects(), users = context_users();
    BROKEN(ENTER, end_branches(queue, other), "the context of a graph: %s");
    BROKEN(RETAIN, end_branches(queue, other), "the context of a graph: %s");
    BROKEN("cuEventCreate", end_branches(queue, other), "an event of a graph: %s");
    BROKEN("cuStreamCreate", end_branches(queue, other), "a stream of a graph: %s");
    BROKEN("cuStreamBeginCapture", end_branches(queue, other), "the beginning of a graph: %s");
    BROKEN("cuStreamGetCaptureInfo", end_branches(queue, other), "a launch of a graph: %s");
    BROKEN("cuEventRecord", end_branches(queue, other), "an event of a graph: %s");
    BROKEN("cuStreamWaitEvent", end_branches(queue, other), "a wait of a graph: %s");
    BROKEN("cuStreamEndCapture", end_branches(queue, other), "the end of a graph: %s");
    BROKEN("cuGraphInstantiate", end_branches(queue, other), "the nodes of a graph: %s");
    BROKEN("cuGraphUpload", end_branches(queue, other), "the nodes of a graph: %s");
    /* Where something has failed before, that is what is said. */
    BROKEN("cuLaunchKernel", end_branches(queue, other), LAUNCHED ": %s");
    CHECK_EQUAL(driver_objects(), objects);
    CHECK_EQUAL(context_users(), users);
}

static void say_of_graphs(struct rex_queue *queue)
{
    struct rex_graph *graph = NULL;
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(b), REX_VALUE(a));
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    BROKEN(ENTER, launch(queue), "a graph: %s");
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(graph), 2);
    BROKEN(ENTER, rex_graph_launch(graph, queue), "rex_graph_launch: %s");
    BROKEN("cuGraphLaunch", rex_graph_launch(graph, queue), "a graph of 2 launches: %s");
    REFUSED(rex_graph_set_args(graph, 2, &args), REX_EINVAL, "rex_graph_set_args: launch 2, and the graph has 2");
    BROKEN("cuGraphExecKernelNodeSetParams", rex_graph_set_args(graph, 1, &args), "kernel \"plain__kernel__\" in a graph: %s");
    BROKEN(ENTER, rex_graph_set_args(graph, 1, &args), "a graph: %s");
    setenv("FAKE_CUDA_BREAKS", ENTER ":719:2", 1); /* the first one looks whether the launch is right */
    REFUSED(rex_graph_set_args(graph, 1, &args), REX_ECUDA, "the context of a graph: " ENTER ": CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_graph_set_args(graph, 1, &args), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
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
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0);
}

/* What a child has of its parent's is refused, and given back without the driver. */
TEST_IN_CHILD(use_in_fork)
{
    struct rex_queue *queue = NULL;
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    double seconds;
    int status;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "one", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        int calls = driver_calls(NULL), users = context_users();
        REFUSED(rex_queue_sync(queue), REX_EFORK, "rex_queue_sync: queue \"one\" was made in this process's parent");
        REFUSED(rex_graph_launch(graph, queue), REX_EFORK, "rex_graph_launch: queue \"one\" was made in this process's parent");
        REFUSED(rex_graph_set_args(graph, 0, NULL), REX_EFORK, "rex_graph_set_args: the graph was made in this process's parent");
        REFUSED(rex_event_sync(event), REX_EFORK, "rex_event_sync: the event was recorded in this process's parent");
        REFUSED(rex_event_query(event), REX_EFORK, "rex_event_query: the event was recorded in this process's parent");
        REFUSED(rex_event_elapsed(&seconds, event, event), REX_EFORK,
                "rex_event_elapsed: the event was recorded in this process's parent");
        rex_event_destroy(event);
        rex_graph_destroy(graph);
        CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
        CHECK_EQUAL(driver_calls(NULL), calls);
        CHECK_EQUAL(context_users(), users);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_event_sync(event), REX_OK);
    rex_event_destroy(event);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- memory runs out ---------------------------------------------------------------------------------------------------------------- */

/* Of this program and of librex in it: the allocation of that number fails, counted from when it was set; 0: none. */
static int failing_allocation, allocations;
static size_t failed_size; /* what it asked for */

static int is_to_fail(size_t size)
{
    int number = __atomic_load_n(&failing_allocation, __ATOMIC_RELAXED);
    bool fails = number > 0 && __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == number;
    if (fails)
        failed_size = size;
    return fails;
}

#define FAILING(name, parameters, bytes, ...)                                                                          \
    void *__real_##name parameters;                                                                                    \
    void *__wrap_##name parameters;                                                                                    \
    void *__wrap_##name parameters { return is_to_fail(bytes) ? NULL : __real_##name(__VA_ARGS__); }
FAILING(malloc, (size_t size), size, size)
FAILING(calloc, (size_t count, size_t size), count *size, count, size)
FAILING(realloc, (void *memory, size_t size), size, memory, size)
FAILING(reallocarray, (void *memory, size_t count, size_t size), count *size, memory, count, size)

/* What is between the beginning and the end of a graph of two queues: 0, or the first error. */
static int fill_graph(struct rex_queue *queue, struct rex_queue *other, struct rex_event *event)
{
    int result = launch(queue);
    if (result == REX_OK)
        result = rex_event_record(event, queue);
    if (result == REX_OK)
        result = rex_queue_wait_event(other, event);
    return result == REX_OK ? launch(other) : result;
}

static int replay_graph(struct rex_graph *graph, struct rex_queue *queue)
{
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(b), REX_VALUE(a));
    int result = rex_graph_launch(graph, queue);
    if (result == REX_OK)
        result = rex_graph_set_args(graph, 0, &args);
    return result == REX_OK ? rex_graph_launch(graph, queue) : result;
}

static int make_and_use_graph(struct rex_queue *queue, struct rex_queue *other, struct rex_event *event)
{
    struct rex_graph *graph = NULL;
    int result = rex_graph_begin(queue);
    if (result != REX_OK)
        return result;
    result = fill_graph(queue, other, event);
    int ended = rex_graph_end(&graph, queue);
    CHECK_EQUAL(graph != NULL, ended == REX_OK);
    if (result == REX_OK)
        result = ended == REX_OK ? replay_graph(graph, queue) : ended;
    rex_graph_destroy(graph);
    return result;
}

/* Queues, an event and a graph, made and used: 0, or the first error. */
static int make_and_use_all(void)
{
    struct rex_queue *queue = NULL, *other = NULL;
    struct rex_event *event = NULL;
    int result = rex_module_queue_create(&queue, &module, 0, "first", 0, NULL);
    CHECK_EQUAL(queue != NULL, result == REX_OK);
    if (result == REX_OK)
        result = rex_module_queue_create(&other, &module, 0, "second", 0, NULL);
    if (result == REX_OK)
        result = rex_event_create(&event);
    if (result == REX_OK)
        result = launch(queue);
    if (result == REX_OK)
        result = rex_event_record(event, queue);
    if (result == REX_OK)
        result = make_and_use_graph(queue, other, event);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    rex_event_destroy(event);
    return result;
}

/* Each allocation fails once: an error that says so, nothing that stays behind, and the next try goes further. */
TEST_IN_CHILD(run_out_of_memory)
{
    int failed = 0;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    int users = context_users();
    for (int number = 1;; number++) {
        allocations = 0;
        failing_allocation = number;
        int result = make_and_use_all();
        failing_allocation = 0;
        if (allocations < number)
            break;
        CHECK_EQUAL(result, REX_ENOMEM);
        CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
        CHECK_EQUAL(make_and_use_all(), REX_OK);
        failed++;
    }
    CHECK(failed > 12);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), users - 1);
}

struct lacking {
    size_t size;
    const char *what;
    size_t asked; /* if not that size */
};

/* Each allocation of CALL fails, in turn, with what the rest says: then it returns 0. */
#define LACKING(call, ...)                                                                               \
    do {                                                                                                 \
        const struct lacking lacks_[] = {__VA_ARGS__};                                                   \
        for (size_t done_ = 0; done_ <= COUNT(lacks_); done_++) {                                        \
            allocations = 0;                                                                             \
            failing_allocation = (int)done_ + 1;                                                         \
            int result_ = (call);                                                                        \
            failing_allocation = 0;                                                                      \
            if (done_ == COUNT(lacks_)) {                                                                \
                CHECK_EQUAL(result_, REX_OK);                                                            \
                break;                                                                                   \
            }                                                                                            \
            REFUSED(result_, REX_ENOMEM, "out of memory: %zu bytes for %s", lacks_[done_].size, lacks_[done_].what); \
            CHECK_EQUAL(failed_size, lacks_[done_].asked != 0 ? lacks_[done_].asked : lacks_[done_].size); \
        }                                                                                                \
    } while (0)

/* A graph of two queues, of which the end lacks something. */
static int end_lacking(struct rex_queue *queue, struct rex_queue *other)
{
    struct outcome outcome = {"nothing", 0};
    struct rex_graph *graph = NULL;
    int failing = failing_allocation;
    failing_allocation = 0;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    record_branches(queue, other, &outcome);
    CHECK_EQUAL(launch(queue), REX_OK);
    failing_allocation = failing;
    int result = rex_graph_end(&graph, queue);
    failing_allocation = 0;
    rex_graph_destroy(graph);
    return result;
}

/* The message says how much of what is lacking. */
TEST_IN_CHILD(say_what_is_lacking)
{
    static int64_t cells[4], many[17];
    struct rex_queue *queue = NULL, *other = NULL, *hosts = NULL;
    struct rex_event *event = NULL;
    struct rex_graph *graph = NULL;
    char bytes[100];
    int64_t a = 1, b = 2;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    LACKING(rex_event_create(&event), {sizeof(struct rex_event), "an event", 0});
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 0, "other", 0, NULL), REX_OK); /* which loads the image */
    LACKING(rex_module_queue_create(&queue, &module, 0, "one", 0, NULL), {sizeof(struct rex_queue), "a queue", 0});
    CHECK_EQUAL(launch(queue), REX_OK);
    LACKING(rex_event_record(event, queue), {sizeof(struct rex_driver_event), "an event", 0});
    LACKING(end_lacking(queue, other), {sizeof(struct rex_graph), "a graph", 0}, {4 * 8, "a graph", (4 + 1) * 8},
            {(1 + 2) * 8, "a graph", 0}, {8, "a graph", 0});
    LACKING(rex_graph_begin(queue), {sizeof(struct rex_graph), "a graph", 0});
    for (int i = 0; i < 64; i++)
        CHECK_EQUAL(launch(queue), REX_OK);
    const size_t commands = 128 * sizeof(struct rex_command);
    LACKING(launch(queue), {commands, "a graph", 0}, {commands, "a graph", 128 * sizeof(void *)}, {commands, "a graph", 128 * sizeof(size_t)},
            {2 * 32, "a launch in a graph", 2 * 32 + 16});
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(graph), 65);
    REX_MAP(args, REX_VALUE(b), REX_VALUE(a));
    LACKING(rex_graph_set_args(graph, 0, &args), {2 * 32, "a launch in a graph", 2 * 32 + 16});
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_graph_destroy(graph);

    CHECK_EQUAL(rex_module_queue_create(&hosts, &module, 1, "host's", 0, NULL), REX_OK);
    LACKING(rex_queue_fill(hosts, bytes, "", 1, 99), {99, "a fill", 0});
    CHECK_EQUAL(rex_queue_destroy(hosts), REX_OK);
    REX_MAP(returned, rex_row_with(REX_TO(cells, 1), REX_MAP_RETURN_PARAM), REX_PRESENT(REX_TO(cells + 2, 1)));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, 4096};
    LACKING(rex_module_data_enter(&module, 0, &returned), {2 * 24, "the bases of a map", 0});
    LACKING(rex_module_region_end(&module, 0, &returned), {2 * 8, "the end of a region", 0});
    void *begin[COUNT(many)];
    int64_t sizes[COUNT(many)], types[COUNT(many)];
    for (size_t i = 0; i < COUNT(many); i++) {
        begin[i] = &many[i];
        sizes[i] = 8;
        types[i] = REX_MAP_TO;
    }
    struct rex_map rows = {.count = COUNT(many), .base = begin, .begin = begin, .sizes = sizes, .types = types};
    LACKING(rex_module_data_enter(&module, 0, &rows), {64 * sizeof(struct rex_new_row), "the rows of a call", 0});
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Nor is anything pinned, or in the way of a later try. */
TEST_IN_CHILD(pin_without_memory)
{
    static char bytes[100];
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_host_register(NULL, 1), REX_EINVAL); /* from here on there is room for an error */
    for (int i = 0; i < 2; i++) {
        allocations = 0;
        failing_allocation = 1;
        if (i == 0)
            CHECK(rex_host_alloc(100) == NULL);
        else
            CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), REX_ENOMEM);
        failing_allocation = 0;
        CHECK_EQUAL(allocations, 1);
        CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
        CHECK_MENTIONS(rex_last_error(), "out of memory: ");
        CHECK_MENTIONS(rex_last_error(), " bytes for a pinned range");
        CHECK_EQUAL(context_users(), 0);
    }
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
}

/* ---- lost devices -------------------------------------------------------------------------------------------------------------------- */

/* Libomptarget, which would abort, is not asked to do anything on the device. */
static void refused(int result)
{
    CHECK_EQUAL(result, REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "device 0 is lost, since queue \"doomed\" met with cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
}

/* Nor is any memory. What is mapped can be asked. */
static void refuse_memory(void *memory)
{
    uint64_t value = 0;
    struct rex_queue *other = NULL;
    uint32_t before = the_record()->touches;
    CHECK(rex_device_alloc(16, 0) == NULL);
    refused(rex_last_error_code());
    refused(rex_device_copy_to(memory, &value, sizeof value, 0));
    refused(rex_device_copy_from(&value, memory, sizeof value, 0));
    CHECK_EQUAL(rex_target_is_present(&value, sizeof value, 0), 0);
    CHECK(rex_mapped_ptr(&value, 0) == NULL);
    rex_device_free(memory, 0);
    refused(rex_last_error_code());
    CHECK_MENTIONS(rex_last_error(), "rex_device_free: ");
    refused(rex_module_queue_create(&other, &module, 0, "other", 0, NULL));
    refused(rex_device_gpu(0));
    CHECK_EQUAL(the_record()->touches, before);
}

static void refuse_everything(void)
{
    static int64_t value[4];
    uint32_t before[COUNT(the_record()->counts)];
    memcpy(before, the_record()->counts, sizeof before);
    struct rex_launch_config kernel = rex_launch_config_of(&plain__id__, 1, 32);
    REX_MAP(map, REX_TO(value, 4));
    REX_MAP(args, REX_VALUE(value[0]), REX_VALUE(value[1]));
    refused(rex_module_data_enter(&module, 0, &map));
    refused(rex_module_data_update(&module, 0, &map));
    refused(rex_module_region_end(&module, 0, &map));
    refused(rex_module_launch_map(&module, &kernel, &args));
    refused(rex_module_fini(&module));
    refused(rex_module_init(&module));
    for (int i = FAKE_KERNEL; i <= FAKE_UPDATE; i++)
        CHECK_EQUAL(the_record()->counts[i], before[i]);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
}

/* An error that a wait brings stays: the device is lost, also when the queue is gone that found out. The other device is not. */
TEST_IN_CHILD(lose)
{
    struct rex_queue *queue;
    static int64_t value[4];
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "doomed", 0, NULL), REX_OK);
    void *memory = lasting(rex_device_alloc(sizeof value, 0)); /* which a lost device does not take back */
    CHECK_EQUAL(launch(queue), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    CHECK_EQUAL(rex_queue_sync(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"doomed\": cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_MENTIONS(rex_last_error(), "\"plain__kernel__\"");
    CHECK_EQUAL(launch(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "is lost");
    refuse_everything();
    refuse_memory(memory);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "\"plain__kernel__\"");
    refuse_everything();
    refuse_memory(memory);
    the_record()->devices = 2;
    REX_MAP(map, REX_TO(value, 4));
    CHECK_EQUAL(rex_module_data_enter(&module, 1, &map), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 1, &map), REX_OK);
    memory = rex_device_alloc(16, 1);
    uint32_t before = the_record()->touches;
    rex_device_free(memory, 1);
    CHECK_EQUAL(the_record()->touches, before + 1);
}

/* The call that waits before it frees memory is the one that finds out. */
TEST_IN_CHILD(lose_before_free)
{
    struct rex_queue *queue;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "doomed", 0, NULL), REX_OK);
    void *memory = lasting(rex_device_alloc(16, 0));
    CHECK_EQUAL(launch(queue), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    uint32_t before = the_record()->touches;
    rex_device_free(memory, 0);
    CHECK_EQUAL(the_record()->touches, before);
    CHECK_MENTIONS(rex_last_error(), "rex_device_free: device 0 is lost, since queue \"doomed\"");
}

static int wait_for_event(struct rex_event *event, int with)
{
    double seconds;
    return with == 0 ? rex_event_sync(event) : with == 1 ? rex_event_query(event) : rex_event_elapsed(&seconds, event, event);
}

/* The call for an event fails by itself: the device is well. */
TEST_OF_EACH(fail_in_event, int, with, 0, 1, 2)
{
    static const char *const calls[] = {"cuEventSynchronize", "cuEventQuery", "cuEventElapsedTime"}, *const of[] = {"sync", "query", "elapsed"};
    struct rex_queue *queue;
    struct rex_event *event;
    char breaks[64];
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "well", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    *(unsigned *)in_driver("fake_cuda_event_flags") = 99;
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    CHECK_EQUAL(*(unsigned *)in_driver("fake_cuda_event_flags"), 0); /* it has a time, and a wait is as the context's */
    snprintf(breaks, sizeof breaks, "%s:2:0", calls[with]);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    REFUSED(wait_for_event(event, with), REX_ECUDA, "rex_event_%s: %s: CUDA_ERROR_OUT_OF_MEMORY", of[with], calls[with]);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_event_destroy(event);
}

/* Nobody has waited but for an event: what fails then has the kernels of all queues, and libomptarget is not asked any more. */
TEST_OF_EACH(lose_in_event, int, with, 0, 1, 2)
{
    static const char *const says[] = {"rex_event_sync: cuEventSynchronize: ", "rex_event_query: cuEventQuery: ",
                                       "rex_event_elapsed: cuEventElapsedTime: "};
    struct rex_queue *queue, *idle;
    struct rex_event *event;
    static int64_t value[4];
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "doomed", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&idle, &module, 0, "idle", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    CHECK_EQUAL(rex_event_record(event, idle), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    CHECK_EQUAL(wait_for_event(event, with), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), says[with]);
    CHECK_MENTIONS(rex_last_error(), "CUDA_ERROR_LAUNCH_FAILED; launched since the last wait: \"plain__kernel__\"");
    uint32_t begins = the_record()->counts[FAKE_BEGIN];
    REX_MAP(map, REX_TO(value, 4));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &map), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "data begin: device 0 is lost, since queue \"");
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begins);
    CHECK_EQUAL(launch(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "is lost");
    rex_event_destroy(event);
}

/* What is put in a queue fails for the work of another. */
TEST_IN_CHILD(lose_in_another)
{
    struct rex_queue *queue, *idle;
    static int64_t value[4];
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "doomed", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&idle, &module, 0, "idle", 0, NULL), REX_OK);
    CHECK_EQUAL(launch(queue), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    CHECK_EQUAL(rex_queue_fill(idle, (void *)4096, "", 1, 16), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "a fill: cuMemsetD8Async: CUDA_ERROR_LAUNCH_FAILED");
    REX_MAP(map, REX_TO(value, 4));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &map), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "data begin: device 0 is lost, since queue \"idle\" met with cuStreamQuery");
    CHECK_EQUAL(rex_queue_sync(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"doomed\": ");
    CHECK_MENTIONS(rex_last_error(), "\"plain__kernel__\"");
}

/* A driver without graphs has no queues; the rest works. */
TEST_IN_CHILD(be_old)
{
    struct rex_queue *queue = NULL;
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, NULL, 0, NULL), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "the CUDA driver is too old: it has no cuStreamBeginCapture_v2, which came with CUDA 10.1");
    CHECK(queue == NULL);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* ---- threads ------------------------------------------------------------------------------------------------------------------------- */

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
    for (int i = 0; i <= THREADS; i++) /* not in the threads: the fake libomptarget is no good for several */
        CHECK_EQUAL(rex_module_queue_create(&queue[i], &module, 0, NULL, 0, NULL), REX_OK);
    for (int own = 0; own < 2; own++) {
        for (int i = 0; i < THREADS; i++)
            CHECK_EQUAL(pthread_create(&thread[i], NULL, use_in_thread, queue[own ? i : 0]), 0);
        CHECK_EQUAL(pthread_create(&thread[THREADS], NULL, use_graphs_in_thread, queue[THREADS]), 0);
        for (int i = 0; i <= THREADS; i++)
            CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    }
    for (int i = 0; i <= THREADS; i++)
        CHECK_EQUAL(rex_queue_destroy(queue[i]), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
    /* Every launch got there: those of the threads, and one for each graph, captured. */
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_launches"), 2 * (THREADS * LAUNCHES + LAUNCHES / 10));
}

/* One event, recorded by one thread on one GPU and the other in turn, while another thread waits for it. */
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
    CHECK_EQUAL(rex_module_queue_create(&shared.queue[0], &module, 0, "first GPU", 0, NULL), REX_OK);
    the_record()->devices = 2;
    setenv("FAKE_CUDA_ORDINAL", "1", 1);
    CHECK_EQUAL(rex_module_queue_create(&shared.queue[1], &module, 1, "second GPU", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_event_create(&shared.event), REX_OK);
    CHECK_EQUAL(rex_event_record(shared.event, shared.queue[0]), REX_OK);
    CHECK_EQUAL(pthread_create(&thread[0], NULL, wait_in_thread, &shared), 0);
    CHECK_EQUAL(pthread_create(&thread[1], NULL, record_in_thread, &shared), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    CHECK_EQUAL(rex_event_sync(shared.event), REX_OK);
    CHECK_EQUAL(rex_event_query(shared.event), 1);
    /* The driver's event is one for each GPU, and lasts as long as the event. */
    CHECK_EQUAL(driver_calls("cuEventCreate"), 2);
    CHECK_EQUAL(driver_calls("cuEventDestroy"), 0);
    rex_event_destroy(shared.event);
    CHECK_EQUAL(driver_calls("cuEventDestroy"), 2);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_queue_destroy(shared.queue[i]), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}
