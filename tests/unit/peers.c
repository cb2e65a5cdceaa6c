/*
 * peers.c - copies between two GPUs: who makes them, what is refused, what must not go meanwhile;
 * and what is refused of streams that a queue lends or takes from somebody else. Last, how late the
 * fake driver is, on which tests rely that look for an order which librex forgot.
 *
 * The fake driver has memory. Bytes and their order are tested in runtime/everydevice and
 * runtime/streams.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "plain.h"
#include "rex/device.h"
#include "rex/interop.h"
#include "rex_kmp.h"

enum { BYTES = 8000 };
static struct rex_queue *queue[2];
static char *memory[2], *host; /* which is pinned */

static void start(void)
{
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    setenv("FAKE_CUDA_ORDER", "late", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    use_release(22);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 2;
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(
            rex_module_queue_create(&queue[i], &module, i, i == 0 ? "zero" : "one", 0, NULL), 0);
        CHECK((memory[i] = rex_device_alloc(BYTES, i)) != NULL);
    }
    CHECK((host = rex_host_alloc(BYTES)) != NULL);
    memset(host, 'x', BYTES);
}

static void finish(void)
{
    CHECK_EQUAL(rex_host_free(host), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_queue_destroy(queue[i]), 0);
        rex_device_free(memory[i], i);
    }
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* What the fake has at the beginning of a device's memory. */
static char first_byte(int device)
{
    return *DRIVERS(char *(*)(uint64_t, size_t), "fake_cuda_memory")((uintptr_t)memory[device], BYTES);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int copy(int size)
{
    return rex_queue_copy_peer(queue[0], memory[1], 1, memory[0], 0, (size_t)size);
}

/* Where no GPU reaches another, or the driver says so late, it stages the bytes. */
static void copy_broken(const void *broken)
{
    if (strcmp(broken, "none") == 0)
        setenv("FAKE_CUDA_PEERS", "none", 1);
    else
        setenv("FAKE_CUDA_BREAKS", broken, 1);
    start();
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, BYTES), 0);
        CHECK_EQUAL(copy(BYTES), 0);
        CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
        CHECK_EQUAL(first_byte(1), 'x');
    }
    finish();
}

/* It is said once. */
TEST(test_who_copies)
{
    static const char *const logs[][2] = {
        {"", "between GPU 0 and GPU 1 go directly\n"},
        {"none", "between GPU 0 and GPU 1 go through the host\n"},
        {"cuDeviceCanAccessPeer:719:1",
         "go through the host: cuDeviceCanAccessPeer: CUDA_ERROR_LAUNCH_FAILED\n"},
        {"cuCtxEnablePeerAccess:719:1",
         "go through the host: cuCtxEnablePeerAccess: CUDA_ERROR_LAUNCH_FAILED\n"}};
    for (size_t i = 0; i < COUNT(logs); i++) {
        const char *output = in_child(copy_broken, logs[i][0]);
        assert_int_equal(occurrences(output, logs[i][1]), 1);
        assert_int_equal(occurrences(output, "copies between"), 1);
    }
}

static void count_messages(enum rex_log_level level, const char *message, void *count)
{
    (void)level, (void)message;
    ++*(int *)count;
}

TEST_IN_CHILD(refused_copies)
{
    struct rex_graph *graph;
    start();
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], NULL, 1, NULL, 0, 0), 0);
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[1], 7, memory[0], 0, 8), REX_EDEVICE);
    REFUSED(rex_queue_copy_peer(queue[0], memory[1], 1, memory[1], 1, 8), REX_EDEVICE,
            "rex_queue_copy_peer: the copy is from device 1 to device 1, but queue \"zero\" is of device 0: use a queue of one of "
            "these two devices");
    REFUSED(rex_queue_copy_peer(queue[0], memory[1], 2, memory[0], 0, 8), REX_ENODEVICE,
            "queue \"zero\": a copy between devices: device 2 is not an NVIDIA GPU");
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, 0), 0);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], -2, 8), REX_EDEVICE);
    /* Of a graph a copy is on one device. */
    CHECK_EQUAL(rex_graph_begin(queue[0]), 0);
    REFUSED(copy(8), REX_EUNSUPPORTED,
            "rex_queue_copy_peer: a graph uses device 0 only, and the copy also uses device 1");
    CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[0], 0, memory[0] + 8, 0, 8), 0);
    CHECK_EQUAL(rex_graph_end(&graph, queue[0]), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0] + 8, host, 8), 0);
    CHECK_EQUAL(rex_graph_launch(graph, queue[0]), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(first_byte(0), 'x');
    rex_graph_destroy(graph);
    finish();
}

/* Each call that a copy makes fails: an error that names it, nothing held, and the next copy works.
 */
TEST_OF_EACH(failing, const char *, call, "cuMemcpyPeerAsync", "cuDevicePrimaryCtxRetain")
{
    char breaks[64];
    start();
    snprintf(breaks, sizeof breaks, "%s:719:1", call);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    CHECK_EQUAL(copy(8), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "a copy between devices");
    CHECK_MENTIONS(rex_last_error(), call);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(copy(8), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    finish();
}

/*
 * The memory of the other device is in use as well: a mapping of it does not end, and
 * rex_device_free() waits, but not for copies within the queue's own device.
 */
TEST_IN_CHILD(in_use)
{
    static int64_t mapped[4], others[2], target, below_target;
    start();
    the_record()->mappings[0] =
        (struct fake_mapping){(uintptr_t)mapped, sizeof mapped, (uintptr_t)memory[1]};
    for (int i = 0; i < 2; i++) /* beside what is copied, on either side */
        the_record()->mappings[1 + i] =
            (struct fake_mapping){(uintptr_t)(others + i), 8, (uintptr_t)(memory[1] + 16 * i - 8)};
    the_record()->mappings[3] =
        (struct fake_mapping){(uintptr_t)&below_target, 8, (uintptr_t)(memory[0] - 8)};
    the_record()->mappings[4] =
        (struct fake_mapping){(uintptr_t)&target, 8, (uintptr_t)memory[0]};
    REX_MAP(row, REX_ALLOC(mapped, 4));
    REX_MAP(at_target, REX_ALLOC(&target, 1));
    REX_MAP(below, REX_ALLOC(&below_target, 1));
    REX_MAP(beside, REX_ALLOC(others, 1), REX_ALLOC(others + 1, 1));
    CHECK_EQUAL(rex_module_data_enter(&module, 1, &row), 0);
    for (int i = 0; i < 7; i++) /* each look at the queue lets the driver do one */
        CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[0], 0, memory[1], 1, 8), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 1, &row), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"zero\" has unfinished work");
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &at_target), REX_EBUSY);
    CHECK_EQUAL(rex_module_data_exit(&module, 1, &beside), 0);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &below), 0);
    CHECK_EQUAL(rex_queue_query(queue[0]), 0);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 1, &row), 0);
    const int waits = driver_calls("cuStreamSynchronize");
    for (int to = 0; to < 2; to++) {
        for (int i = 0; i < 4; i++)
            CHECK_EQUAL(rex_queue_copy_peer(queue[0], memory[to], to, memory[0] + 8, 0, 8), 0);
        rex_device_free(memory[1], 1);
        CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + to);
        CHECK((memory[1] = rex_device_alloc(BYTES, 1)) != NULL);
    }
    finish();
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Device 2 is the host. */
TEST_IN_CHILD(refused_streams)
{
    void *stream = NULL, *of_other = NULL, *of_both = (void *)2, *of_default = NULL;
    struct rex_queue *made = NULL;
    struct rex_graph *graph;
    start();
    CHECK_EQUAL(rex_graph_begin(queue[0]), 0);
    REFUSED(rex_queue_stream(queue[0], &stream, NULL), REX_EINVAL,
            "rex_queue_stream: queue \"zero\" is being captured");
    CHECK_EQUAL(rex_graph_end(&graph, queue[0]), 0);
    rex_graph_destroy(graph);
    CHECK(stream == NULL && rex_queue_stream(queue[0], &stream, NULL) == 0 && stream != NULL);
    CHECK_EQUAL(rex_queue_stream(queue[1], &of_other, NULL), 0);
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0x10, &stream), REX_EINVAL,
            "rex_queue_from_stream: unknown flags 0x10");
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0, &of_other), REX_EINVAL,
            "rex_queue_from_stream: the stream is not in the primary context of device 0");
    REFUSED(rex_module_queue_create(&made, &module, 0, NULL, 0, &of_both), REX_EINVAL,
            "rex_queue_from_stream: CU_STREAM_PER_THREAD cannot be used: it is another stream in each thread");
    REFUSED(rex_module_queue_create(&made, &module, 2, NULL, 0, &stream), REX_ENODEVICE,
            "rex_queue_from_stream: device 2 is not an NVIDIA GPU, and has no streams");
    setenv("FAKE_CUDA_BREAKS", "cuStreamGetCtx:719:1", 1);
    REFUSED(rex_module_queue_create(&made, &module, 0, "broken", 0, &stream), REX_ECUDA,
            "queue \"broken\": cuStreamGetCtx: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK(made == NULL);
    CHECK_EQUAL(rex_module_queue_create(&made, &module, 2, "none", 0, &of_default), 0);
    CHECK(rex_queue_is_synchronous(made));
    int said = 0;
    rex_set_log_callback(count_messages, &said);
    REFUSED(rex_queue_stream(made, &stream, NULL), REX_ENODEVICE,
            "rex_queue_stream: queue \"none\" has no stream, because its device is not an NVIDIA GPU");
    CHECK_EQUAL(said, 0); /* the question is portable */
    rex_set_log_callback(NULL, NULL);
    CHECK_EQUAL(rex_queue_destroy(made), 0);
    finish();
}

/* ---- the fake -------------------------------------------------------------------------------- */

/*
 * Without an event streams know nothing of each other. Ordinary memory is read when it is put in;
 * pinned memory, when the device gets there.
 */
TEST_OF_EACH(fake_is_late, bool, by_event, false, true)
{
    struct rex_queue *other = NULL;
    struct rex_event *event;
    char ordinary[8] = "ordinary";
    start();
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 0, "other", 0, NULL), 0);
    CHECK_EQUAL(rex_event_create(&event), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], host, 8), 0);
    host[0] = 'y';
    CHECK_EQUAL(rex_event_record(event, queue[0]), 0);
    if (by_event)
        CHECK_EQUAL(rex_queue_wait_event(other, event), 0);
    CHECK_EQUAL(rex_queue_copy_from(other, host + 8, memory[0], 8), 0);
    CHECK_EQUAL(host[8], 'x');
    CHECK_EQUAL(rex_queue_sync(other), 0);
    CHECK_EQUAL(host[8] == 'y', by_event);
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue[0], memory[0], ordinary, sizeof ordinary), 0);
    ordinary[0] = 'z';
    CHECK_EQUAL(first_byte(0), 'y');
    CHECK_EQUAL(rex_queue_sync(queue[0]), 0);
    CHECK_EQUAL(first_byte(0), 'o');
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(other), 0);
    finish();
}
