/*
 * trace.c - traces where no machine of the tests can go: queues on a GPU, whose times come from the driver's events; a driver that fails;
 * more work than is kept; names that are no text; more kernels than fit.
 *
 * The driver and libomptarget are fakes; every time between two events is 1.5 ms, backwards from the last. What the trace has of real calls
 * is tested in tests/runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "inqueue.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/interop.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "trace/traceline.h"
#include "trace/tracesum.h"

/* Of tests/data/kernels.cu: its parameters are one value and one address. */
REX_KERNEL(plain);

static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

/* ---- what is done with a queue ----------------------------------------------------------------------------------- */

static struct rex_queue *start(const char *trace)
{
    struct rex_queue *queue = NULL;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "left", 0, NULL), REX_OK);
    return queue;
}

static void launch(struct rex_queue *queue)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config description = rex_launch_config_of(&plain__id__, 3, 64);
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    CHECK_EQUAL(launch_module_in(queue, &module, &description, &args), REX_OK);
}

static void called(void *argument)
{
    (void)argument;
}

static void use(struct rex_queue *queue)
{
    static unsigned char bytes[64];
    void *device = (void *)(uintptr_t)4096;
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    for (int i = 0; i < 3; i++)
        launch(queue);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, bytes, sizeof bytes), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, bytes, device, sizeof bytes), REX_OK);
    CHECK_EQUAL(rex_queue_fill(queue, device, bytes, 4, sizeof bytes), REX_OK);
    CHECK_EQUAL(rex_queue_host_func(queue, called, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    launch(queue);
    launch(queue);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    if (getenv("FAKE_CUDA_BREAKS") == NULL) {
        CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
        CHECK_EQUAL(rex_queue_wait_event(queue, event), REX_OK);
    }
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_event_destroy(event);
    rex_graph_destroy(graph);
}

/* At the end of the process, which run_child() would leave out, the trace is finished. */
static void finish(struct rex_queue *queue)
{
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    exit(0);
}

static void use_and_finish(const void *trace)
{
    struct rex_queue *queue = start(trace);
    use(queue);
    finish(queue);
}


/* ---- files ------------------------------------------------------------------------------------------------------- */

static char folder[PATH_MAX - 32], path[PATH_MAX];

/* Whole files that the children have written go with the folder. */
static void check(const char *expected)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "python3 tests/trace/check.py '%s' %s", path, expected);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* BODY writes a trace, in which is what EXPECTED says, and says nothing itself. */
static void traced(void (*body)(const void *), const char *expected)
{
    assert_string_equal(in_child(body, path), "");
    check(expected);
}

/* Whose context is current already, as the program's own code may have made it. */
static void use_in_context(const void *trace)
{
    struct rex_queue *queue = start(trace);
    int (*retain)(void **context, int device), (*push)(void *context), (*pop)(void **context);
    void *context, *retains = in_driver("cuDevicePrimaryCtxRetain"), *pushes = in_driver("cuCtxPushCurrent_v2"),
                   *pops = in_driver("cuCtxPopCurrent_v2");
    memcpy(&retain, &retains, sizeof retain);
    memcpy(&push, &pushes, sizeof push);
    memcpy(&pop, &pops, sizeof pop);
    CHECK(retain(&context, 0) == 0 && push(context) == 0);
    for (int i = 0; i < 3; i++)
        launch(queue);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuEventElapsedTime"), 2 * 3); /* by now they are written */
    CHECK_EQUAL(pop(&context), 0);
    finish(queue);
}

TEST_IN_CHILD(without_trace)
{
    struct rex_queue *queue = start("");
    for (int i = 0; i < 3; i++)
        launch(queue);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuEventCreate") + driver_calls("cuEventRecord") + driver_calls("cuEventElapsedTime"), 0);
    finish(queue);
}

enum { MANY = 5000 };

static void without_waiting(const void *trace)
{
    struct rex_queue *queue = start(trace);
    for (int i = 0; i < MANY; i++)
        launch(queue);
    /* What there was no room for has been read. */
    CHECK(driver_calls("cuEventCreate") <= 2 * 1024 + 1);
    CHECK(driver_calls("cuEventElapsedTime") >= 2 * (MANY - 1024));
    CHECK(driver_calls("cuEventSynchronize") <= 1 + MANY / 1024); /* all that is done is read then */
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    finish(queue);
}

/* The clock stands still where a test says so, but for its ticks at each look. */
static uint64_t stands_at, tick; /* nanoseconds */
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (stands_at == 0)
        return __real_clock_gettime(clock, time);
    time->tv_sec = (time_t)(stands_at / 1000000000);
    time->tv_nsec = (long)(stands_at % 1000000000);
    stands_at += tick;
    return 0;
}

/* How often the time is made sure of: an event more than those around each launch. */
static int anchors(int launches)
{
    static int before;
    int records = driver_calls("cuEventRecord"), more = records - before - 2 * launches;
    before = records;
    return more;
}

/* It is where nothing is in the queue and the last time was more than a second ago. */
static void let_time_pass(const void *trace)
{
    stands_at = UINT64_C(5000000000000);
    struct rex_queue *queue = start(trace);
    CHECK_EQUAL(anchors(0), 1);
    for (int i = 0; i < 3; i++)
        launch(queue);
    CHECK_EQUAL(anchors(3), 0);
    stands_at += UINT64_C(3000000000);
    launch(queue);
    CHECK_EQUAL(anchors(1), 0);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    stands_at -= UINT64_C(2000000000);
    launch(queue);
    CHECK_EQUAL(anchors(1), 0);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    stands_at += 1;
    launch(queue);
    CHECK_EQUAL(anchors(1), 1);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    finish(queue);
}

/* What is refused, or fails, is not in the trace. */
static void fail_traced(const void *trace)
{
    struct rex_queue *queue = start(trace);
    struct rex_launch_config wrong = rex_launch_config_of(&plain__id__, 3, 64);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), REX_OK);
    launch(queue);
    CHECK_EQUAL(launch_module_in(queue, &module, &wrong, NULL), REX_EPARAMS);
    setenv("FAKE_CUDA_BREAKS", "cuMemsetD8Async:719:0", 1);
    CHECK_EQUAL(rex_queue_fill(queue, (void *)4096, "", 1, 8), REX_ECUDA);
    unsetenv("FAKE_CUDA_BREAKS");
    launch(queue);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    finish(queue);
}

/* No event can be made: no times, and all else. */
static void use_without_new_events(const void *trace)
{
    setenv("FAKE_CUDA_BREAKS", "cuEventCreate:719:0", 1);
    struct rex_queue *queue = start(trace);
    for (int i = 0; i < 3; i++)
        launch(queue);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuEventRecord"), 0);
    finish(queue);
}

/* ---- queues on a GPU --------------------------------------------------------------------------------------------- */

TEST(test_queues)
{
    traced(use_in_context, "--tracks 1 launch/plain__kernel__=3:0,0");
    traced(without_waiting, "launch/plain__kernel__=5000");
    traced(use_without_new_events, "launch/any=0 'queue/queue launch=3'");
    traced(fail_traced, "--tracks 1 launch/plain__kernel__=2 'queue/queue launch=2' data/any=0");
    traced(use_and_finish,
           "--tracks 1 launch/plain__kernel__=3:0,0 'launch/graph of 2 launches=1:0,0' 'data/queue copy to device=1:64,0' "
           "'data/queue copy from device=1:0,64' 'data/queue fill=1:0,0' 'queue/queue launch=3' 'queue/queue call=2' 'queue/graph launch=1' "
           "'queue/event record=1' 'queue/event wait=2' 'queue/queue copy to device=1' 'queue/queue copy from device=1' "
           "'queue/queue fill=1'");
    /* On the queue's track, by the driver's clock. */
    assert_int_equal(in_file(path, "\"dur\":1500.000"), 3 + 3 + 1 + 1 + 1);
}

/* Only times are lost where the driver's events fail: no call fails, and nothing is said. */
TEST(test_driver_without_events)
{
    static const char *const functions[] = {"cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime", "cuEventQuery"};
    for (size_t i = 0; i < COUNT(functions); i++) {
        char setting[64];
        snprintf(setting, sizeof setting, "%s:719:0", functions[i]);
        setenv("FAKE_CUDA_BREAKS", setting, 1);
        traced(use_and_finish, i < 3 ? "launch/any=0 data/any=0 'queue/queue launch=3' 'queue/queue call=1' 'queue/graph launch=1' "
                                       "'queue/queue copy to device=1' 'queue/queue copy from device=1' 'queue/queue fill=1'"
                                     : "launch/plain__kernel__=3 'launch/graph of 2 launches=1'");
        unsetenv("FAKE_CUDA_BREAKS");
    }
}

TEST(test_time)
{
    static const char *const times[] = {"5000001500", "5000004500", "5000007500", "5000010500", "5000013500", "5001001500"};
    char words[64];
    in_child(let_time_pass, path);
    for (size_t i = 0; i < COUNT(times); i++) {
        snprintf(words, sizeof words, "\"ts\":%s.00%d,\"dur\":1500.000", times[i], i == 5);
        if (in_file(path, words) != 1)
            fail_msg("no %s", words);
    }
    assert_int_equal(in_file(path, "\"dur\":1500.000"), COUNT(times));
}

/* ---- launches by libomptarget ------------------------------------------------------------------------------------ */

static void start_on_host(const char *trace)
{
    use_gpu(0);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    module.image_name = FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void launch_on_host(void)
{
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_launch_config description = rex_launch_config_of(&plain__id__, 3, 64);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(rex_module_launch_map(&module, &description, &args), REX_OK);
}

static void launch_at_once(struct rex_queue *queue)
{
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_launch_config description = rex_launch_config_of(&plain__id__, 3, 64);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(launch_module_in(queue, &module, &description, &args), REX_OK);
}

/* A queue that does everything at once: what takes time for the device, on its track, and each call on the thread's. */
static void use_at_once(const void *trace)
{
    static unsigned char bytes[64];
    static int64_t cells[4];
    struct rex_queue *queue = NULL;
    struct rex_graph *graph = NULL;
    struct rex_event *event;
    start_on_host(trace);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "at once", 0, NULL), REX_OK);
    char *device = rex_device_alloc(64, 0);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, (uintptr_t)device};
    struct rex_launch_config wrong = rex_launch_config_of(&plain__id__, 3, 64);
    launch_at_once(queue);
    CHECK_EQUAL(launch_module_in(queue, &module, &wrong, NULL), REX_EPARAMS);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, bytes, 40), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, bytes, device, 24), REX_OK);
    CHECK_EQUAL(rex_queue_fill(queue, device, bytes, 4, 16), REX_OK);
    CHECK_EQUAL(rex_queue_host_func(queue, called, NULL), REX_OK);
    REX_MAP(update, REX_TO(cells, 2));
    CHECK_EQUAL(rex_queue_update(queue, &update), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    launch_at_once(queue);
    launch_at_once(queue);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    rex_event_destroy(event);
    rex_graph_destroy(graph);
    rex_device_free(device, 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    exit(0);
}

TEST(test_at_once)
{
    traced(use_at_once, "--tracks 1 launch/plain__kernel__=3 'data/queue copy to device=2:56,0' 'data/queue copy from device=1:0,24' "
                        "'data/queue fill=1:0,0' 'queue/queue launch=3' 'queue/queue call=2' 'queue/queue copy to device=2' "
                        "'queue/queue copy from device=1' 'queue/queue fill=1'");
    assert_int_equal(in_file(path, "\"queue at once (device 0)\""), 1);
}

/* The child's number goes down the pipe. */
static void fork_and_kill(const void *context)
{
    int status, pipe = *(const int *)context;
    start_on_host(getenv("TEST_PATTERN"));
    launch_on_host();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        launch_on_host();
        raise(SIGKILL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    launch_on_host();
    pid_t both[] = {getpid(), child};
    CHECK_EQUAL(write(pipe, both, sizeof both), sizeof both);
    exit(0);
}

/* A file called after the process: a child of fork has one of its own. What it wrote until it was killed is whole lines. */
TEST(test_killed_child)
{
    char pattern[PATH_MAX + 16], command[5 * PATH_MAX];
    int ends[2];
    pid_t both[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(pattern, sizeof pattern, "%s/of %%p.json", folder);
    setenv("TEST_PATTERN", pattern, 1);
    in_child(fork_and_kill, &ends[1]);
    unsetenv("TEST_PATTERN");
    assert_int_equal(read(ends[0], both, sizeof both), sizeof both);
    for (int i = 0; i < 2; i++) {
        char whole[PATH_MAX];
        close(ends[i]);
        snprintf(command, sizeof command, "f='%s/of %ld.json'; [ \"$(ls '%s'/of* | wc -l)\" = 2 ] && cp \"$f\" '%s' && [ %d = 0 ] || echo ']' >>'%s'",
                 folder, (long)both[i], folder, path, i, path);
        assert_int_equal(system(command), 0);
        check(i == 0 ? "launch/plain__kernel__=2" : "");
        snprintf(whole, sizeof whole, "\"process_name\",\"pid\":%ld,", (long)both[i]);
        assert_int_equal(in_file(path, whole), 1);
        assert_int_equal(in_file(path, "process_name"), 1);
    }
}

/* ---- a whole file ------------------------------------------------------------------------------------------------ */

static char cells[24];

static void *in_another_thread(void *unused)
{
    void *row = cells;
    int64_t size = 4, type = 1;
    CHECK_EQUAL(pthread_setname_np(pthread_self(), "worker"), 0);
    __rex_real___tgt_target_data_begin(0, 1, &row, &row, &size, &type);
    return unused;
}

/* Calls of the program's, each number in its place, and of librex's own; an image that the program registers. */
static void make_calls(void)
{
    void *base[] = {cells, cells + 8}, *begin[] = {cells + 16, cells};
    int64_t sizes[] = {8, 16}, types[] = {1, 2};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 2,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .Teams = {2, 3, 5},
                                            .Threads = {7, 11, 13},
                                            .DynCGroupMem = 17,
                                            .Tripcount = 19};
    const struct rex_map map = {.count = 2, .base = base, .begin = begin, .sizes = sizes, .types = types};
    CHECK_EQUAL(rex_host_register(cells, 8), REX_OK); /* of the first row nothing is pinned, and of the second its begin */
    __rex_real___tgt_target_data_begin(-1, 2, base, begin, sizes, types);
    __rex_real___tgt_target_data_update(1, 2, base, begin, sizes, types);
    __rex_real___tgt_target_data_end(0, 2, base, begin, sizes, types);
    CHECK_EQUAL(rex_module_data_enter(&module, 2, &map), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 2, &map), REX_OK);
    the_record()->result = 3;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain__id__, &packet), 3);
    the_record()->result = 0;
    packet.DynCGroupMem = 0;
    packet.Tripcount = 0;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain__id__, &packet), 0);
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, cells, 1, base, begin, sizes, types, 4, 6), 0);
}

static void do_all(const void *trace)
{
    static struct __tgt_offload_entry none;
    pthread_t thread;
    size_t size;
    struct rex_queue *queue = NULL;
    unsigned char *bytes = lasting(read_bytes("tests/data/sm_90.cubin", &size));
    struct __tgt_device_image image = {bytes, bytes + size, &none, &none};
    struct __tgt_bin_desc *descriptor = lasting(malloc(sizeof *descriptor)); /* which is in no file */
    *descriptor = (struct __tgt_bin_desc){1, &image, &none, &none};
    program_invocation_short_name = (char[]){"a \"program\"\n"};
    stands_at = UINT64_C(5000000000000);
    tick = 1234;
    setenv("FAKE_DEVICES", "3", 1);
    setenv("FAKE_CUDA_MEMORY", "16", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "2", 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_ADOPT, "on"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    __rex_real___tgt_register_lib(descriptor);
    __rex_real___tgt_unregister_lib(descriptor);
    make_calls();
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 1, "\"left\"", 0, NULL), REX_OK);
    launch(queue);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    char *memory[] = {rex_device_alloc(64, 0), rex_device_alloc(64, 1)};
    CHECK_EQUAL(rex_device_copy_to(memory[0], cells, 24, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(cells, memory[0], 16, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, 8), REX_OK);
    CHECK_EQUAL(pthread_create(&thread, NULL, in_another_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    finish(queue);
}

/* TEXT with the process's number as P, those of its further threads as T, addresses as A, and the build directory as B. */
static void normalise(char *text, char *to)
{
    long pid = strtol(strstr(text, "\"pid\":") + 6, NULL, 10);
    while (*text != '\0') {
        bool is_address = strncmp(text, "0x", 2) == 0, is_id = strncmp(text, "id\":", 4) == 0;
        char *end = text;
        unsigned long long number = is_address ? strtoull(text, &end, 16) : is_id ? strtoull(text + 4, &end, 10) : 0;
        if (is_address && number > 4096) {
            *to++ = 'A';
        } else if (is_id && number < 1 << 22) {
            to += sprintf(to, "id\":%c", (long)number == pid ? 'P' : 'T');
        } else if (strncmp(text, TEST_BUILD, strlen(TEST_BUILD)) == 0) {
            *to++ = 'B';
            end = text + strlen(TEST_BUILD);
        } else {
            *to++ = *text;
            end = text + 1;
        }
        text = end;
    }
    *to = '\0';
}

/* Every byte of a file, but for these. UPDATE=1 writes tests/golden/trace.json anew. */
TEST(test_every_byte)
{
    static const char golden[] = "tests/golden/trace.json";
    size_t size, expected_size;
    assert_string_equal(in_child(do_all, path), "");
    char *text = (char *)read_bytes(path, &size);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    normalise(text, text);
    if (getenv("UPDATE") != NULL)
        write_bytes(golden, text, strlen(text));
    unsigned char *expected = read_bytes(golden, &expected_size);
    if (strlen(text) != expected_size || memcmp(text, expected, expected_size) != 0)
        fail_msg("not %s:\n%s", golden, text);
    free(expected);
    free(text);
}

/* ---- when it is written ------------------------------------------------------------------------------------------ */

static off_t size_of(const char *file)
{
    struct stat status;
    CHECK_EQUAL(stat(file, &status), 0);
    return status.st_size;
}

/* Slices wait for others until the buffer is full, or 10 ms have gone by. */
static void write_when(const void *trace)
{
    enum { BUFFER = 65536, FEW = 2000 };
    stands_at = UINT64_C(5000000000000);
    start_on_host(trace);
    stands_at += 1000000000;
    launch_on_host();
    off_t size = size_of(trace);
    stands_at += 9999999;
    launch_on_host();
    CHECK_EQUAL(size_of(trace), size);
    stands_at++;
    launch_on_host();
    CHECK(size_of(trace) > size);
    for (int writes = 0; writes < 3; writes++) {
        size = size_of(trace);
        while (size_of(trace) == size)
            launch_on_host();
        CHECK(size_of(trace) - size <= BUFFER);
        CHECK(writes == 0 || size_of(trace) - size > BUFFER - REX_LINE_MAX - FEW);
    }
    exit(0);
}

TEST(test_when_it_is_written)
{
    size_t size;
    assert_string_equal(in_child(write_when, path), "");
    char *text = (char *)read_bytes(path, &size);
    assert_memory_equal(text + size - 5, "}}\n]\n", 5);
    free(text);
}

/* A child of fork cannot open a file of its own, says so once, and is not traced. */
static void fork_without_folder(const void *trace)
{
    char moved[PATH_MAX];
    int status;
    start_on_host(trace);
    launch_on_host();
    snprintf(moved, sizeof moved, "%s.moved", folder);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQUAL(rename(folder, moved), 0);
        for (int i = 0; i < 3; i++)
            launch_on_host();
        CHECK_EQUAL(rename(moved, folder), 0);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    launch_on_host();
    exit(0);
}

TEST(test_child_without_folder)
{
    const char *output = in_child(fork_without_folder, path);
    assert_int_equal(occurrences(output, "\n"), 1);
    assert_int_equal(strncmp(output, "librex: warning: REX_TRACE: ", 28), 0);
    assert_int_equal(occurrences(output, " cannot be written: No such file or directory; the program runs on without it\n"), 1);
    assert_int_equal(occurrences(output, path), 1);
    check("launch/plain__kernel__=2");
}

static void end_here(struct rex_line *line, const void *context)
{
    (void)line, (void)context;
    exit(0);
}

static void end_within(const void *trace)
{
    struct rex_slice slice = {.name = "whole", .category = "queue", .end = rex_trace_clock() + 1000000000};
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    rex_trace_start();
    rex_trace_slice(&slice);
    slice.details = end_here;
    rex_trace_slice(&slice);
}

/* A process that ends in the midst of a slice, as in a signal's handler, leaves whole lines and no bracket, after a second. */
TEST(test_end_within)
{
    assert_string_equal(in_child(end_within, path), "");
    size_t size;
    char *text = (char *)read_bytes(path, &size);
    assert_memory_equal(text + size - 4, "{}}\n", 4);
    free(text);
    assert_int_equal(in_file(path, "\"name\":\"whole\""), 1);
}

/* ---- tracks -------------------------------------------------------------------------------------------------------------------------- */

TEST(test_tracks_of_devices)
{
    struct rex_track *tracks[32];
    char name[64];
    for (size_t i = 0; i < COUNT(tracks); i++) {
        tracks[i] = rex_track_take(3);
        assert_non_null(tracks[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(tracks[i]->id != tracks[j]->id);
    }
    assert_null(rex_track_take(3));
    assert_null(rex_track_take(-1));
    assert_null(rex_track_take(64));
    struct rex_track *first = rex_track_take(0), *last = rex_track_take(63);
    assert_true(first != NULL && last != NULL);
    rex_track_label(last, name, sizeof name);
    assert_string_equal(name, "device 63");
    assert_int_equal(last->id - first->id, 63 * COUNT(tracks));
    uint32_t queue = rex_track_queue();
    assert_int_equal(rex_track_queue(), queue + 1);
    rex_track_label(tracks[0], name, sizeof name);
    assert_string_equal(name, "device 3");
    rex_track_label(tracks[1], name, sizeof name);
    assert_string_equal(name, "device 3 (2)");
    rex_track_drop(NULL);
    rex_track_drop(tracks[7]);
    rex_track_drop(tracks[5]);
    assert_ptr_equal(rex_track_take(3), tracks[5]);
    rex_track_forget();
    assert_ptr_equal(rex_track_take(3), tracks[0]);
}

/* ---- lines --------------------------------------------------------------------------------------------------------------------------- */

static char text[REX_LINE_MAX];

static struct rex_line new_line(void)
{
    return (struct rex_line){.text = text};
}

TEST(test_strings)
{
    static const struct {
        const char *text, *expected;
    } strings[] = {
        {"axpy", "\"axpy\""},
        {"", "\"\""},
        {"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff\xc3", "\"\\ufffd\\ufffd\""},                                     /* no UTF-8, and the half of it */
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""},                                     /* longer than need be */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},                          /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},               /* beyond the last character */
    };
    char name[3000];
    for (size_t i = 0; i < COUNT(strings); i++) {
        struct rex_line line = new_line();
        rex_line_string(&line, strings[i].text);
        assert_string_equal(line.text, strings[i].expected);
        assert_false(line.full);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct rex_line line = new_line();
    rex_line_string(&line, name);
    assert_int_equal(line.length, 1024 + strlen("\"...\""));
    /* The longest that a name can become, and all rows, still fit. */
    memset(name, '\x01', sizeof name - 1);
    rex_line_string(&line, name);
    assert_false(line.full);
}

/* Numbers as printf() has them, and a line that they no longer fit into: nothing is written behind it. */
TEST(test_numbers)
{
    static const int64_t numbers[] = {0, 1, -1, 9, 10, 999, 1000, 123456789, INT64_MAX, INT64_MIN};
    char expected[256];
    for (size_t i = 0; i < COUNT(numbers); i++) {
        struct rex_line line = new_line();
        uint64_t number = (uint64_t)numbers[i];
        uint32_t three[3] = {(uint32_t)number, 0, 42};
        rex_line_number(&line, numbers[i]);
        rex_line_text(&line, " ");
        rex_line_hexadecimal(&line, number);
        rex_line_text(&line, " ");
        rex_line_time(&line, number);
        rex_line_three(&line, three);
        snprintf(expected, sizeof expected, "%lld 0x%llx %llu.%03u[%u,0,42]", (long long)numbers[i], (unsigned long long)number,
                 (unsigned long long)number / 1000, (unsigned)(number % 1000), three[0]);
        assert_string_equal(line.text, expected);
        assert_int_equal(line.length, strlen(expected));
    }
    for (int by_format = 0; by_format < 2; by_format++) {
        struct rex_line line = new_line();
        char *end = line.text + REX_LINE_MAX;
        line.length = REX_LINE_MAX - 4;
        strcpy(line.text + line.length, "");
        by_format ? rex_line_add(&line, "%s", "abc") : rex_line_text(&line, "abc");
        assert_false(line.full);
        assert_int_equal(line.length, REX_LINE_MAX - 1);
        assert_string_equal(end - 4, "abc");
        line.length = REX_LINE_MAX - 4;
        by_format ? rex_line_add(&line, "%s", "abcd") : rex_line_text(&line, "abcd");
        assert_true(line.full);
        assert_int_equal(line.length, REX_LINE_MAX - 4);
    }
}

/* Words of a type in room that ends anywhere. */
TEST(test_room_for_words)
{
    static const char whole[] = "to|from|delete|member_of(2)|0x800";
    char words[sizeof whole + 1];
    for (size_t size = 0; size <= sizeof whole; size++) {
        memset(words, '!', sizeof words);
        rex_type_text(INT64_C(2) << 48 | 0x80b, words, size);
        assert_int_equal(words[size], '!');
        if (size > 0) {
            assert_int_equal(strlen(words), size - 1);
            assert_memory_equal(words, whole, size - 1);
        }
    }
}

TEST(test_rows)
{
    enum { ROWS = 40 };
    static int64_t memory[ROWS];
    struct {
        uint64_t offset, count, stride;
    } dimensions[] = {{0, 3, 64}, {0, 1, 24}}, huge[] = {{0, UINT64_MAX, 64}, {0, 2, 24}};
    void *begin[ROWS];
    int64_t sizes[ROWS], types[ROWS];
    for (int i = 0; i < ROWS; i++) {
        begin[i] = &memory[i];
        sizes[i] = 8;
        types[i] = i % 4 | 0x20;
    }
    assert_int_equal(rex_rows_bytes(ROWS, begin, sizes, types, 1), 20 * 8);
    assert_int_equal(rex_rows_bytes(ROWS, begin, sizes, types, 2), 20 * 8);
    types[1] |= 0x100;  /* a value is not copied by itself, */
    types[3] |= 0x80;   /* nor is what is private */
    assert_int_equal(rex_rows_bytes(ROWS, begin, sizes, types, 1), 18 * 8);
    assert_int_equal(rex_rows_bytes(ROWS, NULL, NULL, NULL, 1), 0);
    begin[0] = dimensions;
    sizes[0] = 2;
    types[0] = 0x100000000001;
    assert_int_equal(rex_rows_bytes(1, begin, sizes, types, 1), 3 * 24);
    sizes[0] = 0;
    assert_int_equal(rex_rows_bytes(1, begin, sizes, types, 1), 0);
    sizes[0] = -1;
    assert_int_equal(rex_rows_bytes(1, begin, sizes, types, 1), 0);
    sizes[0] = 2;
    assert_int_equal(rex_rows_bytes(1, NULL, sizes, types, 1), 0);
    assert_int_equal(rex_rows_bytes(1, begin, NULL, types, 1), 0);
    assert_int_equal(rex_rows_bytes(1, begin, sizes, NULL, 1), 0);
    begin[0] = huge;
    assert_true(rex_rows_bytes(ROWS, begin, sizes, types, 1) == INT64_MAX);
    struct rex_line line = new_line();
    rex_line_rows(&line, ROWS, begin, sizes, types);
    assert_int_equal(occurrences(line.text, " bytes"), 32);
    assert_non_null(strstr(line.text, ",\"and 8 more\"]"));
    /* Sums that no number holds; and rows whose columns are missing. */
    int64_t all[] = {INT64_MAX, INT64_MAX, INT64_MAX}, to[] = {1, 1, 1};
    assert_true(rex_rows_bytes(3, begin, all, to, 1) == INT64_MAX);
    all[0] = all[1] = INT64_MAX / 2;
    assert_true(rex_rows_bytes(2, begin, all, to, 1) == INT64_MAX - 1);
    for (int missing = 0; missing < 4; missing++) {
        line = new_line();
        rex_line_rows(&line, missing != 0, missing != 1 ? begin : NULL, missing != 2 ? all : NULL, missing != 3 ? to : NULL);
        assert_int_equal(line.length, 0);
    }
}

/* ---- the summary --------------------------------------------------------------------------------------------------------------------- */

static void many_kernels(const void *context)
{
    char name[32];
    struct rex_slice slice = {.name = name, .counted = REX_COUNTED_KERNEL, .begin = 1000, .end = 3000, .to = 10};
    (void)context;
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "kernel_%d", i % 1500);
        rex_summary_add(&slice);
    }
    rex_summary_print();
}

/* What BODY writes to standard error. */
static const char *said_by(void (*body)(const void *))
{
    static char output[300000];
    FILE *file = tmpfile();
    assert_non_null(file);
    int errors = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    body(NULL);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    output[fread(output, 1, sizeof output - 1, file)] = '\0';
    fclose(file);
    return output;
}

static void print_summary(const void *context)
{
    (void)context;
    rex_summary_print();
}

/* Every word and number, the longest first, those that took as long by name; nothing is left for the next one. */
TEST(test_summary)
{
    static const char mapper[] = "a row has a mapper";
    static const struct rex_slice slices[] = {
        {.name = "axpy", .counted = REX_COUNTED_KERNEL, .begin = 1000, .end = 3500, .to = 10, .from = 3, .by = "driver"},
        {.name = "gemm", .counted = REX_COUNTED_KERNEL, .begin = 5, .end = 100005, .by = "libomptarget", .because = "tab\there"},
        {.name = "axpy", .counted = REX_COUNTED_KERNEL, .begin = 2000, .end = 9500, .to = 20, .from = 4, .by = "driver"},
        {.name = "axpy", .counted = REX_COUNTED_KERNEL, .begin = 0, .end = 4000, .by = "libomptarget", .because = mapper},
        {.name = "axpy", .counted = REX_COUNTED_KERNEL, .begin = 0, .end = 3000, .by = "libomptarget"},
        {.name = "axpy", .counted = REX_COUNTED_KERNEL, .begin = 0, .end = 2000},
        {.name = "line\nend", .counted = REX_COUNTED_KERNEL, .begin = 0, .end = 1000, .by = "libomptarget", .because = mapper},
        {.name = "again", .counted = REX_COUNTED_KERNEL, .begin = 0, .end = 1000, .by = "libomptarget", .because = mapper},
        {.name = "axpy", .counted = REX_COUNTED_TRANSFER, .begin = 0, .end = 1234567890, .to = 64, .from = 4096},
        {.name = "axpy", .counted = REX_COUNTED_PHASE, .begin = 0, .end = 50, .to = 1},
        {.name = "axpy", .counted = REX_COUNTED_PHASE, .begin = 0, .end = 150, .to = 1},
    };
    char head[128];
    char *name = program_invocation_short_name;
    assert_string_equal(said_by(print_summary), "");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(slices); i++)
            rex_summary_add(&slices[i]);
        program_invocation_short_name = (char[]){"a\nb"};
        const char *said = said_by(print_summary);
        program_invocation_short_name = name;
        snprintf(head, sizeof head, "\nlibrex: what a\\x0ab, process %ld, offloaded\n\n", (long)getpid());
        assert_int_equal(strncmp(said, head, strlen(head)), 0);
        assert_string_equal(
            said + strlen(head),
            "  kernel                                       calls      total us     mean us      max us        bytes to      bytes from  by\n"
            "  gemm                                             1         100.0       100.0       100.0               0               0  libomptarget [1]\n"
            "  axpy                                             2          10.0         5.0         7.5              30               7  driver\n"
            "  axpy                                             1           4.0         4.0         4.0               0               0  libomptarget [2]\n"
            "  axpy                                             1           3.0         3.0         3.0               0               0  libomptarget\n"
            "  axpy                                             1           2.0         2.0         2.0               0               0\n"
            "  again                                            1           1.0         1.0         1.0               0               0  libomptarget [2]\n"
            "  line\\x0aend                                      1           1.0         1.0         1.0               0               0  libomptarget [2]\n"
            "\n"
            "  [1] tab\\x09here\n"
            "  [2] a row has a mapper\n"
            "\n"
            "  data                                         calls      total us     mean us      max us        bytes to      bytes from\n"
            "  axpy                                             1     1234567.9   1234567.9   1234567.9              64            4096\n"
            "\n"
            "  start and end                                calls      total us     mean us      max us\n"
            "  axpy                                             2           0.2         0.1         0.1\n"
            "\n");
        rex_summary_forget();
        assert_string_equal(said_by(print_summary), "");
    }
}

/* 31 reasons have numbers of their own, told from each other by 255 bytes; all others are the 32nd. */
TEST(test_more_reasons_than_are_kept)
{
    char because[300], line[320];
    const struct rex_slice slice = {.name = "k", .counted = REX_COUNTED_KERNEL, .end = 1000, .by = "libomptarget", .because = because};
    for (int i = 0; i < 80; i++) {
        memset(because, 'x', sizeof because);
        snprintf(because + 200, 100, "%02d", i % 40);
        because[202] = 'x';
        because[255 + i / 40] = 'y'; /* no more than 255 are looked at */
        because[299] = '\0';
        rex_summary_add(&slice);
    }
    const char *said = said_by(print_summary);
    assert_int_equal(occurrences(said, "\n  k  "), 32);
    assert_int_equal(occurrences(said, "  libomptarget [31]\n"), 1);
    assert_int_equal(occurrences(said, "  libomptarget [32]\n"), 1);
    assert_int_equal(occurrences(said, "\n  [32] one of other reasons\n\n"), 1);
    for (int i = 0; i < 31; i++) {
        memset(because, 'x', 255);
        memcpy(because + 200, (char[]){(char)('0' + i / 10), (char)('0' + i % 10)}, 2);
        because[255] = '\0';
        snprintf(line, sizeof line, "\n  [%d] %s\n", i + 1, because);
        assert_int_equal(occurrences(said, line), 1);
    }
    /* The ninth and the last ones together have been asked for so often. */
    const char *others = strstr(said, "\n  k  ");
    assert_int_equal(strtol(others + 4, NULL, 10), 2 * (40 - 31));
    rex_summary_forget();
}

/* 1024 of the 1500 have a row of their own, with two calls each. */
TEST(test_more_kernels_than_rows)
{
    const char *output = said_by(many_kernels);
    assert_int_equal(occurrences(output, "\n  kernel_"), 1024);
    /* Those that took as long are in the order of their names. */
    for (const char *line = strstr(output, "\n  kernel_"), *next; (next = strstr(line + 1, "\n  kernel_")) != NULL; line = next)
        assert_true(strncmp(line, next, 16) < 0);
    const char *others = strstr(output, "\n  others ");
    assert_non_null(others);
    assert_int_equal(strtol(others + strlen("\n  others "), NULL, 10), 2 * (1500 - 1024));
    rex_summary_forget();
}

int main(void)
{
    char made[PATH_MAX];
    make_folder(made);
    snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, made);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    int result = run_all_tests();
    remove_folder(folder);
    return result;
}
