/*
 * peers.c - copies between two GPUs, of which the fake driver has memory: right bytes in the right order, access asked for once, refusals,
 * memory that must not go meanwhile; and streams that a queue lends or takes from somebody else.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "driver.h"
#include "rex/device.h"
#include "rex/interop.h"
#include "rex_kmp.h"

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

enum { COUNT_OF_WORDS = 1000, BYTES = COUNT_OF_WORDS * 8 };
static struct rex_queue *queue[2];
static char *memory[2];
static uint64_t host[COUNT_OF_WORDS];

static void start_with(const char *gpus)
{
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    setenv("FAKE_CUDA_ORDER", "late", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", gpus, 1);
    use_release(22);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = atoi(gpus);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_queue_create(&queue[i], &module, i, i == 0 ? "zero" : "one", 0, NULL), 0);
        CHECK((memory[i] = rex_device_alloc(BYTES, i)) != NULL);
    }
    for (int i = 0; i < COUNT_OF_WORDS; i++)
        host[i] = 1000000 + (uint64_t)i;
}

static void start(void)
{
    start_with("2");
}

static void finish(void)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_queue_destroy(queue[i]), 0);
        rex_device_free(memory[i], i);
    }
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

static uint64_t word_on(int device, int index)
{
    void *(*find)(uint64_t, size_t);
    void *address = in_driver("fake_cuda_memory");
    memcpy(&find, &address, sizeof find);
    uint64_t *words = find((uintptr_t)memory[device], BYTES);
    CHECK(words != NULL);
    return words[index];
}

static bool has_access(int device, int peer)
{
    return ((bool(*)[FAKE_GPUS])in_driver("fake_cuda_access"))[device][peer];
}

/* ---- copies ---------------------------------------------------------------------------------------------------------------------- */

/* Round both devices and back: only events order the queues, since the driver does nothing before it must. */
static void round_trip(const void *context)
{
    struct rex_event *event[2];
    (void)context;
    start();
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_event_create(&event[i]), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, BYTES), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, BYTES), 0);
    CHECK_EQUAL(rex_event_record(event[0], queue[0]), 0);
    CHECK(word_on(1, 0) != 1000000);
    CHECK_EQUAL(rex_queue_wait_event(queue[1], event[0]), 0);
    uint8_t zero = 0;
    CHECK_EQUAL(rex_queue_fill(queue[1], memory[1], &zero, 1, 8), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[1], memory[0], 0, memory[1], 1, BYTES), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[1], memory[1] + 16, 1, memory[1], 1, 16), 0);
    CHECK_EQUAL(rex_event_record(event[1], queue[1]), 0);
    CHECK_EQUAL(rex_event_query(event[1]), 0);
    CHECK_EQUAL(rex_event_sync(event[1]), 0);
    CHECK_EQUAL(rex_event_query(event[1]), 1);
    CHECK_EQUAL(word_on(0, 0), 0);
    CHECK_EQUAL(word_on(0, COUNT_OF_WORDS - 1), 1000000 + COUNT_OF_WORDS - 1);
    CHECK_EQUAL(word_on(1, 2), 0);
    CHECK_EQUAL(word_on(1, 3), 1000001);
    CHECK(has_access(0, 1) && has_access(1, 0));
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, BYTES), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(driver_calls("cuMemcpyPeerAsync"), 102);
    CHECK_EQUAL(driver_calls("cuMemcpyDtoDAsync"), 1);
    for (int i = 0; i < 2; i++)
        rex_event_destroy(event[i]);
    finish();
}

/* Each of the others is asked for once. */
TEST_IN_CHILD(three_gpus)
{
    start_with("3");
    char *third = rex_device_alloc(BYTES, 2);
    CHECK(third != NULL);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, 8), 0);
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], third, 2, memory[0], 0, 8), 0);
        CHECK_EQUAL(rex_queue_copy_peer(queue[1], memory[1], 1, third, 2, 8), 0);
    }
    CHECK(has_access(0, 1) && has_access(0, 2) && has_access(1, 2) && !has_access(1, 0));
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_queue_sync(queue[i]), 0);
    rex_device_free(third, 2);
    finish();
}

/* Where no GPU reaches another, or the driver says so late: the driver stages the bytes, and nothing is an error. */
static void through_the_host(const void *broken)
{
    if (broken != NULL)
        setenv("FAKE_CUDA_BREAKS", broken, 1);
    else
        setenv("FAKE_CUDA_PEERS", "none", 1);
    start();
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, BYTES), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, BYTES), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(word_on(1, 5), 1000005);
    CHECK(!has_access(0, 1));
    finish();
}

TEST_IN_CHILD(waiting)
{
    start();
    CHECK_EQUAL(rex_device_copy_to(memory[0], host, BYTES, 0), 0);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, BYTES), 0);
    CHECK_EQUAL(word_on(1, 7), 1000007);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[1] + 8, 1, 8), 0);
    CHECK_EQUAL(word_on(1, 0), 1000001);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, 0), 0);
    CHECK_EQUAL(rex_device_copy_peer(NULL, 1, memory[0], 0, 8), REX_EINVAL);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, NULL, 0, 8), REX_EINVAL);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 3, memory[0], 0, 8), REX_EDEVICE);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], -2, 8), REX_EDEVICE);
    finish();
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, 8), REX_EINVAL);
}

TEST_IN_CHILD(refused_copies)
{
    struct rex_graph *graph;
    start();
    REFUSED(rex_queue_copy_peer(NULL, memory[1], 1, memory[0], 0, 8), REX_EINVAL, "rex_queue_copy_peer: the queue is NULL");
    REFUSED(rex_queue_copy_peer(queue[0], NULL, 1, memory[0], 0, 8), REX_EINVAL, "rex_queue_copy_peer: the destination is NULL");
    REFUSED(rex_queue_copy_peer(queue[0], memory[1], 1, NULL, 0, 8), REX_EINVAL, "rex_queue_copy_peer: the source is NULL");
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], NULL, 1, NULL, 0, 0), 0);
    CHECK_EQUAL(driver_calls("cuMemcpyPeerAsync"), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, 1), 0);
    CHECK_EQUAL(driver_calls("cuMemcpyPeerAsync"), 1);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 7, memory[0], 0, 8), REX_EDEVICE);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[1], 1, 8), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "queue \"zero\" is of device 0, and the copy from device 1 to device 1");
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 2, memory[0], 0, 8), REX_ENODEVICE);
    CHECK_MENTIONS(rex_last_error(), "device 2 is no NVIDIA GPU");
    CHECK_EQUAL(rex_graph_begin(queue[0]), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, 8), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "a graph is of device 0 alone");
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[0] + 8, 0, memory[0], 0, 8), 0);
    CHECK_EQUAL(rex_graph_end(&graph, queue[0]), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, 8), 0);
    CHECK_EQUAL(rex_graph_launch(graph, queue[0]), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(word_on(0, 1), 1000000);
    rex_graph_destroy(graph);
    finish();
}

/* Each call that a copy makes fails: an error that names it, nothing held, and the next copy works. */
TEST_OF_EACH(failing, const char *, call, "cuMemcpyPeerAsync", "cuDevicePrimaryCtxRetain")
{
    char said[64];
    start();
    snprintf(said, sizeof said, "%s:719:1", call);
    setenv("FAKE_CUDA_BREAKS", said, 1);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, 8), REX_ECUDA);
    snprintf(said, sizeof said, "a copy between devices: %s: CUDA_ERROR_LAUNCH_FAILED", call);
    CHECK_MENTIONS(rex_last_error(), said);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, 8), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    finish();
}

/* The memory of the other device is in use as well: a mapping of it does not end, and rex_device_free() waits. */
TEST_IN_CHILD(in_use)
{
    static int64_t mapped[4];
    start();
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)mapped, sizeof mapped, (uintptr_t)memory[1]};
    REX_MAP(row, REX_ALLOC(mapped, 4));
    CHECK_EQUAL(rex_module_data_enter(&module, 1, &row), 0);
    for (int i = 0; i < 4; i++) /* each look at the queue lets the driver do one */
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[0], 0, memory[1], 1, 8), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 1, &row), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"zero\" has unfinished work");
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 1, &row), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, BYTES), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, BYTES), 0);
    int waits = driver_calls("cuStreamSynchronize");
    rex_device_free(memory[1], 1);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + 1);
    /* Nobody waits for a queue that reaches no other device, or does no more. */
    CHECK((memory[1] = rex_device_alloc(BYTES, 1)) != NULL);
    CHECK_EQUAL(rex_queue_fill(queue[1], memory[1], "", 1, BYTES), 0);
    CHECK_EQUAL(rex_queue_sync(queue[1]), 0);
    char *more[2] = {rex_device_alloc(8, 0), rex_device_alloc(8, 0)};
    for (int i = 0; i < 2; i++) {
        waits = driver_calls("cuStreamSynchronize");
        if (i == 1)
            CHECK_EQUAL(rex_queue_copy_peer(queue[1], memory[0], 0, memory[1], 1, BYTES), 0);
        for (int times = 0; times < 4; times++)
            CHECK_EQUAL(rex_queue_fill(queue[1], memory[1], "", 1, BYTES), 0);
        rex_device_free(more[i], 0);
        CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + i);
        CHECK_EQUAL(rex_queue_sync(queue[1]), 0);
    }
    finish();
}

TEST(test_copies)
{
    const char *output = in_child(round_trip, NULL);
    assert_int_equal(occurrences(output, "copies between GPU 0 and GPU 1 go directly\n"), 1);
    assert_int_equal(occurrences(output, "copies between GPU 1 and GPU 0 go directly\n"), 1);
    assert_int_equal(occurrences(output, "copies between"), 2);
    assert_non_null(strstr(in_child(through_the_host, NULL), "copies between GPU 0 and GPU 1 go through the host\n"));
    assert_non_null(strstr(in_child(through_the_host, "cuDeviceCanAccessPeer:719:1"),
                           "go through the host: cuDeviceCanAccessPeer: CUDA_ERROR_LAUNCH_FAILED\n"));
    assert_non_null(strstr(in_child(through_the_host, "cuCtxEnablePeerAccess:719:1"),
                           "go through the host: cuCtxEnablePeerAccess: CUDA_ERROR_LAUNCH_FAILED\n"));
}

/* ---- streams --------------------------------------------------------------------------------------------------------------------- */

/* The driver's functions, as another library calls them. */
static int (*stream_create)(void **, unsigned), (*stream_destroy)(void *), (*fill_bytes)(uint64_t, unsigned char, size_t, void *);
static int (*context_push)(void *), (*context_pop)(void **), (*context_retain)(void **, int), (*context_release)(int);

static void find_driver(void)
{
#define FIND(function, name)                             \
    do {                                                 \
        void *address_ = in_driver(name);                \
        memcpy(&(function), &address_, sizeof address_); \
    } while (0)
    FIND(stream_create, "cuStreamCreate");
    FIND(stream_destroy, "cuStreamDestroy_v2");
    FIND(fill_bytes, "cuMemsetD8Async");
    FIND(context_push, "cuCtxPushCurrent_v2");
    FIND(context_pop, "cuCtxPopCurrent_v2");
    FIND(context_retain, "cuDevicePrimaryCtxRetain");
    FIND(context_release, "cuDevicePrimaryCtxRelease_v2");
}

/* Somebody else's work on device 0: its first word becomes 0x0101010101010101 times VALUE. */
static void fill_by_others(void *stream, void *context, int value)
{
    CHECK_EQUAL(context_push(context), 0);
    CHECK_EQUAL(fill_bytes((uintptr_t)memory[0], (unsigned char)value, 8, stream), 0);
    CHECK_EQUAL(context_pop(&context), 0);
}

/* Work of the queue and of others in turn; the queue waits for all of it, also where it has put nothing in itself. */
static void take_turns(struct rex_queue *of, void *stream, void *context)
{
    uint64_t *read = rex_host_alloc(2 * sizeof *read);
    CHECK(read != NULL);
    CHECK_EQUAL(rex_queue_copy_to(of, memory[0], host, 8), 0);
    fill_by_others(stream, context, 1);
    CHECK_EQUAL(rex_queue_copy_from(of, &read[0], memory[0], 8), 0);
    fill_by_others(stream, context, 2);
    CHECK_EQUAL(rex_queue_copy_from(of, &read[1], memory[0], 8), 0);
    CHECK_EQUAL(rex_queue_sync(of), 0);
    CHECK_EQUAL(read[0], 0x0101010101010101);
    CHECK_EQUAL(read[1], 0x0202020202020202);
    fill_by_others(stream, context, 3);
    fill_by_others(stream, context, 3);
    CHECK_EQUAL(rex_queue_query(of), 0);
    CHECK_EQUAL(rex_queue_sync(of), 0);
    CHECK_EQUAL(word_on(0, 0), 0x0303030303030303);
    CHECK_EQUAL(rex_queue_query(of), 1);
    CHECK_EQUAL(rex_host_free(read), 0);
}

TEST_IN_CHILD(lent)
{
    void *stream = NULL, *context = NULL, *again = NULL;
    struct rex_graph *graph;
    start();
    find_driver();
    REFUSED(rex_queue_stream(NULL, &stream, &context), REX_EINVAL, "rex_queue_stream: the queue is NULL");
    REFUSED(rex_queue_stream(queue[0], NULL, &context), REX_EINVAL, "rex_queue_stream: there is no place for the stream");
    CHECK_EQUAL(rex_graph_begin(queue[0]), 0);
    REFUSED(rex_queue_stream(queue[0], &stream, &context), REX_EINVAL, "rex_queue_stream: queue \"zero\" is being captured");
    CHECK_EQUAL(rex_graph_end(&graph, queue[0]), 0);
    rex_graph_destroy(graph);
    CHECK(stream == NULL && context == NULL);
    CHECK_EQUAL(rex_queue_stream(queue[0], &stream, &context), 0);
    CHECK_EQUAL(rex_queue_stream(queue[0], &again, NULL), 0);
    CHECK(stream != NULL && stream == again && context != NULL);
    take_turns(queue[0], stream, context);
    finish();
}

TEST_IN_CHILD(theirs)
{
    void *context[2], *stream[2];
    struct rex_queue *made = NULL, *on_default = NULL;
    start();
    find_driver();
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(context_retain(&context[i], i), 0);
        CHECK_EQUAL(context_push(context[i]), 0);
        CHECK_EQUAL(stream_create(&stream[i], 1), 0);
        CHECK_EQUAL(context_pop(&(void *){NULL}), 0);
    }
    REFUSED(rex_module_queue_create(NULL, &module, 0, NULL, 0, &stream[0]), REX_EINVAL,
            "rex_queue_from_stream: there is no place for the queue");
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0x100, &stream[0]), REX_EINVAL, "rex_queue_from_stream: unknown flags 0x100");
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0, &stream[1]), REX_EINVAL,
            "rex_queue_from_stream: the stream is not of device 0, in its primary context");
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0, (void *[1]){(void *)2}), REX_EINVAL,
            "rex_queue_from_stream: the default stream of each thread is several");
    REFUSED(rex_module_queue_create(&made, &module, 2, NULL, 0, &stream[0]), REX_ENODEVICE,
            "rex_queue_from_stream: a stream, and device 2 is no NVIDIA GPU");
    setenv("FAKE_CUDA_BREAKS", "cuStreamGetCtx:719:1", 1);
    REFUSED(rex_module_queue_create(&made, &module, 0, "broken", 0, &stream[0]), REX_ECUDA,
            "queue \"broken\": cuStreamGetCtx: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK(made == NULL);
    CHECK_EQUAL(rex_module_queue_create(&made, &module, 0, "theirs", 0, &stream[0]), 0);
    take_turns(made, stream[0], context[0]);
    int streams = driver_calls("cuStreamDestroy");
    CHECK_EQUAL(rex_queue_destroy(made), 0);
    CHECK_EQUAL(driver_calls("cuStreamDestroy"), streams);
    CHECK_EQUAL(rex_module_queue_create(&on_default, &module, 0, NULL, 0, (void *[1]){NULL}), 0);
    take_turns(on_default, NULL, context[0]);
    CHECK_EQUAL(rex_queue_destroy(on_default), 0);
    fill_by_others(stream[0], context[0], 4);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(stream_destroy(stream[i]), 0);
        CHECK_EQUAL(context_release(i), 0);
    }
    finish();
}

/* Beside device 1 the host is device 2. */
TEST_IN_CHILD(without_streams)
{
    void *stream = NULL;
    struct rex_queue *made = NULL;
    start();
    CHECK_EQUAL(rex_module_queue_create(&made, &module, 2, "none", 0, (void *[1]){NULL}), 0);
    CHECK(rex_queue_is_synchronous(made));
    CHECK_EQUAL(rex_queue_stream(made, &stream, NULL), REX_ENODEVICE);
    CHECK_MENTIONS(rex_last_error(), "queue \"none\" has none: device 2 is no NVIDIA GPU");
    CHECK_EQUAL(rex_queue_destroy(made), 0);
    finish();
}
