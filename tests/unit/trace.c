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
#include "omp/calls.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "trace/traceline.h"
#include "trace/tracesum.h"
#include "rex_kmp.h"

/* Of tests/data/kernels.cu: its parameters are one value and one address. */
REX_KERNEL(plain);

static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

/* ---- the driver ------------------------------------------------------------------------------------------------------------------- */

/* ---- what is done with a queue ------------------------------------------------------------------------------------------------------ */

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

/* ---- files --------------------------------------------------------------------------------------------------------------------------- */

struct file {
    char folder[PATH_MAX - 32], path[PATH_MAX];
};

static struct file *new_file(void)
{
    static struct file file;
    char folder[PATH_MAX];
    make_folder(folder);
    snprintf(file.folder, sizeof file.folder, "%.*s", (int)sizeof file.folder - 1, folder);
    snprintf(file.path, sizeof file.path, "%s/trace.json", file.folder);
    return &file;
}

static void check(const char *path, const char *expected)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "python3 tests/trace/check.py '%s' %s", path, expected);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* ---- queues on a GPU ----------------------------------------------------------------------------------------------------------------- */

TEST(test_queue)
{
    struct file *file = new_file();
    in_child(use_and_finish, file->path);
    check(file->path,
          "--tracks 1 launch/plain__kernel__=3:0,0 'launch/graph of 2 launches=1:0,0' 'data/queue copy to device=1:64,0' "
          "'data/queue copy from device=1:0,64' 'data/queue fill=1:0,0' 'queue/queue launch=3' 'queue/queue call=2' 'queue/graph launch=1' "
          "'queue/event record=1' 'queue/event wait=2' 'queue/queue copy to device=1' 'queue/queue copy from device=1' "
          "'queue/queue fill=1'");
    /* On the queue's track, by the driver's clock. */
    assert_int_equal(in_file(file->path, "\"dur\":1500.000"), 3 + 3 + 1 + 1 + 1);
    assert_int_equal(in_file(file->path, "\"queue left (device 0)\""), 1);
    /* And what was asked for. */
    char details[512];
    snprintf(details, sizeof details,
             "\"args\":{\"device\":0,\"queue\":\"left\",\"kernel\":\"plain__kernel__\",\"key\":\"0x%lx\",\"teams\":[3,1,1],"
             "\"threads\":[64,1,1],\"arguments\":2,\"rows\":[\"target_param|literal 0x1, 8 bytes\","
             "\"target_param|literal 0x2, 8 bytes\"]}",
             (unsigned long)(uintptr_t)&plain__id__);
    assert_int_equal(in_file(file->path, details), 3);
    assert_int_equal(in_file(file->path, "\"args\":{\"device\":0,\"queue\":\"left\"}"), 6);
    remove_folder(file->folder);
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

TEST(test_current_context)
{
    struct file *file = new_file();
    in_child(use_in_context, file->path);
    check(file->path, "--tracks 1 launch/plain__kernel__=3:0,0");
    remove_folder(file->folder);
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

TEST(test_more_than_is_kept)
{
    struct file *file = new_file();
    in_child(without_waiting, file->path);
    check(file->path, "launch/plain__kernel__=5000");
    remove_folder(file->folder);
}

/* Only times are lost: no call fails, and nothing is said. */
TEST(test_driver_without_events)
{
    static const char *const functions[] = {"cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime", "cuEventQuery"};
    for (size_t i = 0; i < COUNT(functions); i++) {
        struct file *file = new_file();
        char setting[64];
        snprintf(setting, sizeof setting, "%s:719:0", functions[i]);
        setenv("FAKE_CUDA_BREAKS", setting, 1);
        assert_string_equal(in_child(use_and_finish, file->path), "");
        unsetenv("FAKE_CUDA_BREAKS");
        check(file->path, i < 3 ? "launch/any=0 data/any=0 'queue/queue launch=3' 'queue/queue call=1' 'queue/graph launch=1' "
                                  "'queue/queue copy to device=1' 'queue/queue copy from device=1' 'queue/queue fill=1'"
                                : "launch/plain__kernel__=3 'launch/graph of 2 launches=1'");
        remove_folder(file->folder);
    }
}

/* The clock stands still where a test says so. */
static uint64_t stands_at; /* nanoseconds */
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (stands_at == 0)
        return __real_clock_gettime(clock, time);
    time->tv_sec = (time_t)(stands_at / 1000000000);
    time->tv_nsec = (long)(stands_at % 1000000000);
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

TEST(test_time)
{
    static const char *const times[] = {"5000001500", "5000004500", "5000007500", "5000010500", "5000013500", "5001001500"};
    struct file *file = new_file();
    char words[64];
    in_child(let_time_pass, file->path);
    for (size_t i = 0; i < COUNT(times); i++) {
        snprintf(words, sizeof words, "\"ts\":%s.00%d,\"dur\":1500.000", times[i], i == 5);
        if (in_file(file->path, words) != 1)
            fail_msg("no %s", words);
    }
    assert_int_equal(in_file(file->path, "\"dur\":1500.000"), COUNT(times));
    remove_folder(file->folder);
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

TEST(test_no_new_events)
{
    struct file *file = new_file();
    assert_string_equal(in_child(use_without_new_events, file->path), "");
    check(file->path, "launch/any=0 'queue/queue launch=3'");
    remove_folder(file->folder);
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

TEST(test_failing)
{
    struct file *file = new_file();
    assert_string_equal(in_child(fail_traced, file->path), "");
    check(file->path, "--tracks 1 launch/plain__kernel__=2 'queue/queue launch=2' data/any=0");
    remove_folder(file->folder);
}

/* ---- registrations ------------------------------------------------------------------------------------------------------------------- */

static void register_all(const void *trace)
{
    static struct __tgt_offload_entry none;
    size_t size;
    unsigned char *bytes = lasting(read_bytes("tests/data/sm_90.cubin", &size));
    struct __tgt_device_image image = {bytes, bytes + size, &none, &none};
    struct __tgt_bin_desc *descriptor = lasting(malloc(sizeof *descriptor)); /* which is in no file */
    *descriptor = (struct __tgt_bin_desc){1, &image, &none, &none};
    CHECK_EQUAL(rex_configure(REX_OPTION_ADOPT, "on"), REX_OK);
    struct rex_queue *queue = start(trace);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    __rex_real___tgt_register_lib(descriptor);
    __rex_real___tgt_unregister_lib(descriptor);
    finish(queue);
}

/* What each part works on is told with it. */
TEST(test_phases)
{
    static const struct {
        const char *name, *object;
        int count;
    } phases[] = {{"register", "tests/data/sm_90.cubin", 1},   {"open image", "tests/data/sm_90.cubin", 1},
                  {"load image", "tests/data/sm_90.cubin", 1}, {"adopt", "the program", 1},
                  {"activate contexts", NULL, 2},              {"bind libomptarget", FAKE("22/libomptarget.so.22"), 1}};
    struct file *file = new_file();
    in_child(register_all, file->path);
    for (size_t i = 0; i < COUNT(phases); i++) {
        char words[PATH_MAX];
        if (phases[i].object == NULL)
            snprintf(words, sizeof words, "\"name\":\"%s\",\"args\":{}}", phases[i].name);
        else
            snprintf(words, sizeof words, "\"name\":\"%s\",\"args\":{\"object\":\"%s\"}}", phases[i].name, phases[i].object);
        assert_int_equal(in_file(file->path, words), phases[i].count);
    }
    remove_folder(file->folder);
}

/* ---- launches by libomptarget -------------------------------------------------------------------------------------------------------- */

static void start_on_host(const char *trace)
{
    use_gpu(0);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    module.image_name = FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void launch_on_host(uint64_t trip_count, uint32_t dynamic_memory)
{
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_launch_config description = rex_launch_config_of(&plain__id__, 3, 64);
    description.trip_count = trip_count;
    description.dynamic_memory = dynamic_memory;
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(rex_module_launch_map(&module, &description, &args), REX_OK);
}

static void tell_what_is_asked(const void *trace)
{
    start_on_host(trace);
    launch_on_host(0, 0);
    launch_on_host(12345, 0);
    launch_on_host(0, 678);
    exit(0);
}

/* What a launch does not ask for is not written. */
TEST(test_what_is_asked)
{
    struct file *file = new_file();
    in_child(tell_what_is_asked, file->path);
    check(file->path, "launch/plain__kernel__=3");
    assert_int_equal(in_file(file->path, "\"trip_count\":12345"), 1);
    assert_int_equal(in_file(file->path, "trip_count"), 1);
    assert_int_equal(in_file(file->path, "\"dynamic_memory\":678"), 1);
    assert_int_equal(in_file(file->path, "dynamic_memory"), 1);
    remove_folder(file->folder);
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
    struct file *file = new_file();
    assert_string_equal(in_child(use_at_once, file->path), "");
    check(file->path, "--tracks 1 launch/plain__kernel__=3 'data/queue copy to device=2:56,0' 'data/queue copy from device=1:0,24' "
                      "'data/queue fill=1:0,0' 'queue/queue launch=3' 'queue/queue call=2' 'queue/queue copy to device=2' "
                      "'queue/queue copy from device=1' 'queue/queue fill=1'");
    assert_int_equal(in_file(file->path, "\"queue at once (device 0)\""), 1);
    remove_folder(file->folder);
}

/* The child's number goes down the pipe. */
static void fork_and_kill(const void *context)
{
    int status, pipe = *(const int *)context;
    start_on_host(getenv("TEST_PATTERN"));
    launch_on_host(0, 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        launch_on_host(0, 0);
        raise(SIGKILL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    launch_on_host(0, 0);
    pid_t both[] = {getpid(), child};
    CHECK_EQUAL(write(pipe, both, sizeof both), sizeof both);
    exit(0);
}

/* A file called after the process: a child of fork has one of its own. What it wrote until it was killed is whole lines. */
TEST(test_killed_child)
{
    struct file *file = new_file();
    char pattern[PATH_MAX], command[3 * PATH_MAX];
    int ends[2];
    pid_t both[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(pattern, sizeof pattern, "%s/%%p.json", file->folder);
    setenv("TEST_PATTERN", pattern, 1);
    in_child(fork_and_kill, &ends[1]);
    unsetenv("TEST_PATTERN");
    assert_int_equal(read(ends[0], both, sizeof both), sizeof both);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        snprintf(file->path, sizeof file->path, "%s/%ld.json", file->folder, (long)both[i]);
        snprintf(command, sizeof command, "[ \"$(ls '%s' | wc -l)\" = 2 ] && [ %d = 0 ] || echo ']' >>'%s'", file->folder, i, file->path);
        assert_int_equal(system(command), 0);
        check(file->path, i == 0 ? "launch/plain__kernel__=2" : "");
        snprintf(pattern, sizeof pattern, "\"process_name\",\"pid\":%ld,", (long)both[i]);
        assert_int_equal(in_file(file->path, pattern), 1);
        assert_int_equal(in_file(file->path, "process_name"), 1);
    }
    remove_folder(file->folder);
}

/* ---- a file, byte by byte ------------------------------------------------------------------------------------------------------------ */

static void write_detail(struct rex_line *line, const void *context)
{
    rex_line_add(line, "\"detail\":%d", *(const int *)context);
}

static void *in_another_thread(void *slice)
{
    CHECK_EQUAL(pthread_setname_np(pthread_self(), "worker"), 0);
    rex_trace_slice(slice);
    return NULL;
}

static void write_slices(const void *trace)
{
    static const int detail = 42;
    struct rex_track queue = {.id = rex_track_queue(), .name = "queue \"q%%\""}, *device = rex_track_take(3);
    const struct rex_slice slices[] = {
        {.name = "a \"b\"",
         .category = "launch",
         .counted = REX_COUNTED_KERNEL,
         .begin = 1234567,
         .end = 3234578,
         .to = 5,
         .from = 7,
         .by = "driver",
         .because = NULL,
         .on = device},
        {.name = "c",
         .category = "data",
         .counted = REX_COUNTED_TRANSFER,
         .begin = 0,
         .end = 1,
         .to = 8,
         .from = 9,
         .details = write_detail,
         .context = &detail,
         .on = device},
        {.name = "d",
         .category = "launch",
         .counted = REX_COUNTED_KERNEL,
         .begin = 5000,
         .end = 5000,
         .by = "libomptarget",
         .because = "a\tb",
         .details = write_detail,
         .context = &detail},
        {.track = &queue, .name = "e", .category = "phase", .counted = REX_COUNTED_PHASE, .begin = 10, .end = 20, .to = 1, .because = "no"},
        {.track = &queue, .name = "f", .category = "queue", .details = write_detail, .context = &detail, .end = 2000000},
    };
    struct rex_slice other = {.name = "g", .category = "queue"};
    pthread_t thread;
    program_invocation_short_name = (char[]){"a program"};
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    CHECK(!rex_trace_on());
    CHECK_EQUAL(rex_phase_begin(), 0);
    rex_phase_end(0, "nothing", NULL);
    rex_trace_start();
    CHECK(rex_trace_on() && rex_phase_begin() != 0);
    for (size_t i = 0; i < COUNT(slices); i++) {
        errno = EDOM;
        rex_trace_slice(&slices[i]);
        CHECK_EQUAL(errno, EDOM);
    }
    CHECK_EQUAL(pthread_create(&thread, NULL, in_another_thread, &other), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(pthread_setname_np(pthread_self(), "renamed"), 0);
    rex_phase_end(1000, "h", NULL);
    rex_phase_end(2000, "i", "an \"object\"");
    rex_track_drop(device);
    rex_copy_took(3000, REX_COPIED_TO, 64, 3);
    rex_copy_took(4000, REX_COPIED_FROM, 65, 0);
    rex_copy_took(5000, REX_COPIED_BETWEEN, 66, 2);
    rex_copy_took(6000, REX_COPIED_TO, 67, 64);
    CHECK(rex_track_take(3) == device); /* it was given back */
    rex_trace_depth = 1;
    rex_copy_took(7000, REX_COPIED_TO, 68, 3);
    exit(0);
}

/* TEXT with the number of a process as P, of each further thread as T, and of what took until now as #. */
static void normalise(char *text, char *to)
{
    char pid[32], *end;
    size_t length = (size_t)snprintf(pid, sizeof pid, "%ld", strtol(strstr(text, "\"pid\":") + 6, NULL, 10));
    while (*text != '\0') {
        if (strncmp(text, pid, length) == 0) {
            *to++ = 'P';
            text += length;
        } else if (strncmp(text, "\"tid\":", 6) == 0) {
            to = stpcpy(to, "\"tid\":");
            long id = strtol(text + 6, &end, 10);
            to += id < 1 << 22 && id != atol(pid) ? sprintf(to, "T") : id >= 1 << 24 ? sprintf(to, "Q%ld", id - (1 << 24)) :
                  id >= 1 << 23 ? sprintf(to, "D%ld", id - (1 << 23)) : sprintf(to, "P");
            text = end;
        } else if (strncmp(text, "\"dur\":", 6) == 0 && strtod(text + 6, &end) > 1e6) {
            to = stpcpy(to, "\"dur\":#");
            text = end;
        } else
            *to++ = *text++;
    }
    *to = '\0';
}

#define NAME_OF(id, what) ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":P,\"tid\":" id ",\"args\":{\"name\":\"" what "\"}}\n"
#define SLICE_OF(category, id, times, name, args) \
    ",{\"ph\":\"X\",\"cat\":\"" category "\",\"pid\":P,\"tid\":" id "," times ",\"name\":\"" name "\",\"args\":{" args "}}\n"
#define TIMES(begin, took) "\"ts\":" begin ",\"dur\":" took

TEST(test_every_byte)
{
    static const char expected[] =
        "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":P,\"tid\":P,\"args\":{\"name\":\"a program\"}}\n" NAME_OF("P", "main thread")
            SLICE_OF("launch", "P", TIMES("1234.567", "2000.011"), "a \\\"b\\\"", "\"bytes_to\":5,\"bytes_from\":7,\"by\":\"driver\"")
                NAME_OF("D96", "device 3")
                    SLICE_OF("device", "D96", TIMES("1234.567", "2000.011"), "a \\\"b\\\"", "\"bytes_to\":5,\"bytes_from\":7")
                        SLICE_OF("data", "P", TIMES("0.000", "0.001"), "c", "\"detail\":42,\"bytes_to\":8,\"bytes_from\":9")
                            SLICE_OF("device", "D96", TIMES("0.000", "0.001"), "c", "\"bytes_to\":8,\"bytes_from\":9")
                                SLICE_OF("launch", "P", TIMES("5.000", "0.000"), "d",
                                         "\"detail\":42,\"bytes_to\":0,\"bytes_from\":0,\"by\":\"libomptarget\",\"because\":\"a\\u0009b\"")
        NAME_OF("Q0", "queue \\\"q%%\\\"") SLICE_OF("phase", "Q0", TIMES("0.010", "0.010"), "e", "")
            SLICE_OF("queue", "Q0", TIMES("0.000", "2000.000"), "f", "\"detail\":42") NAME_OF("T", "worker")
                SLICE_OF("queue", "T", TIMES("0.000", "0.000"), "g", "") SLICE_OF("phase", "P", TIMES("1.000", "#"), "h", "")
                    SLICE_OF("phase", "P", TIMES("2.000", "#"), "i", "\"object\":\"an \\\"object\\\"\"")
                        SLICE_OF("data", "P", TIMES("3.000", "#"), "copy to device", "\"device\":3,\"bytes_to\":64,\"bytes_from\":0")
                            SLICE_OF("device", "D96", TIMES("3.000", "#"), "copy to device", "\"bytes_to\":64,\"bytes_from\":0")
                                SLICE_OF("data", "P", TIMES("4.000", "#"), "copy from device",
                                         "\"device\":0,\"bytes_to\":0,\"bytes_from\":65")
        NAME_OF("D0", "device 0") SLICE_OF("device", "D0", TIMES("4.000", "#"), "copy from device", "\"bytes_to\":0,\"bytes_from\":65")
            SLICE_OF("data", "P", TIMES("5.000", "#"), "copy between devices", "\"device\":2,\"bytes_to\":0,\"bytes_from\":0")
                NAME_OF("D64", "device 2")
                    SLICE_OF("device", "D64", TIMES("5.000", "#"), "copy between devices", "\"bytes_to\":0,\"bytes_from\":0")
                        SLICE_OF("data", "P", TIMES("6.000", "#"), "copy to device", "\"device\":64,\"bytes_to\":67,\"bytes_from\":0") "]\n";
    struct file *file = new_file();
    size_t size;
    assert_string_equal(in_child(write_slices, file->path), "");
    unsigned char *bytes = read_bytes(file->path, &size);
    char *text = calloc(1, size + 1), *plain = malloc(2 * size + 64);
    assert_true(text != NULL && plain != NULL);
    memcpy(text, bytes, size);
    normalise(text, plain);
    assert_string_equal(plain, expected);
    free(plain);
    free(text);
    free(bytes);
    remove_folder(file->folder);
}

static off_t size_of(const char *path)
{
    struct stat status;
    CHECK_EQUAL(stat(path, &status), 0);
    return status.st_size;
}

static void write_long(struct rex_line *line, const void *text)
{
    for (int i = 0; i < 17; i++)
        rex_line_text(line, text);
}

/* Slices wait for others until the buffer is full, or 10 ms have gone by; one that is too long for a line is left out. */
static void write_when(const void *trace)
{
    enum { ONE = 1000, BUFFER = 65536 };
    static char name[ONE];
    const uint64_t now = rex_trace_clock() + 1000000000;
    struct rex_slice slice = {.name = name, .category = "queue", .begin = 0, .end = now};
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    rex_trace_start();
    rex_trace_slice(&slice);
    off_t size = size_of(trace);
    slice.end = now + 9999999;
    rex_trace_slice(&slice);
    CHECK_EQUAL(size_of(trace), size);
    slice.end = now + 10000000;
    rex_trace_slice(&slice);
    CHECK(size_of(trace) > size);
    slice.end = now;
    memset(name, 'x', sizeof name - 1);
    for (int writes = 0; writes < 3; writes++) {
        size = size_of(trace);
        while (size_of(trace) == size)
            rex_trace_slice(&slice);
        CHECK(size_of(trace) - size <= BUFFER);
        CHECK(writes == 0 || size_of(trace) - size > BUFFER - REX_LINE_MAX - 3 * ONE);
    }
    slice.details = write_long;
    slice.context = name;
    for (int i = 0; i < 20; i++)
        rex_trace_slice(&slice);
    slice.details = NULL;
    slice.name = "the last one";
    rex_trace_slice(&slice);
    exit(0);
}

TEST(test_when_it_is_written)
{
    struct file *file = new_file();
    assert_string_equal(in_child(write_when, file->path), "");
    size_t size, longest = 0;
    char *text = (char *)read_bytes(file->path, &size);
    assert_memory_equal(text + size - 5, "}}\n]\n", 5);
    for (char *line = text, *end; (end = memchr(line, '\n', size - (size_t)(line - text))) != NULL; line = end + 1) {
        longest = (size_t)(end - line) > longest ? (size_t)(end - line) : longest;
        assert_true(line == text || *line == '{' || *line == ',' || *line == ']');
    }
    assert_in_range(longest, 1000, 1200);
    free(text);
    assert_int_equal(in_file(file->path, ",\"name\":\"the last one\",\"args\":{}}\n]"), 1);
    remove_folder(file->folder);
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
    struct file *file = new_file();
    assert_string_equal(in_child(end_within, file->path), "");
    size_t size;
    char *text = (char *)read_bytes(file->path, &size);
    assert_memory_equal(text + size - 4, "{}}\n", 4);
    free(text);
    assert_int_equal(in_file(file->path, "\"name\":\"whole\""), 1);
    remove_folder(file->folder);
}

/* A child of fork cannot open a file of its own, says so once, and is not traced. */
static void fork_without_folder(const void *trace)
{
    struct rex_slice slice = {.name = "a", .category = "queue"};
    char folder[PATH_MAX];
    int status;
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    rex_trace_start();
    rex_trace_slice(&slice);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(trace, '/') - (const char *)trace), (const char *)trace);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char moved[PATH_MAX + 8];
        snprintf(moved, sizeof moved, "%s.moved", folder);
        CHECK_EQUAL(rename(folder, moved), 0);
        for (int i = 0; i < 3; i++) {
            CHECK_EQUAL(rex_trace_on(), i == 0);
            rex_trace_slice(&slice);
        }
        CHECK_EQUAL(rename(moved, folder), 0);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK(rex_trace_on());
    exit(0);
}

TEST(test_child_without_folder)
{
    struct file *file = new_file();
    const char *output = in_child(fork_without_folder, file->path);
    assert_int_equal(occurrences(output, "\n"), 1);
    assert_int_equal(strncmp(output, "librex: warning: REX_TRACE: ", 28), 0);
    assert_int_equal(occurrences(output, " cannot be written: No such file or directory; the program runs on without it\n"), 1);
    assert_int_equal(occurrences(output, file->path), 1);
    assert_int_equal(in_file(file->path, ",\"name\":\"a\",\"args\":{}}\n]"), 1);
    assert_int_equal(in_file(file->path, "\"name\":\"a\""), 1);
    remove_folder(file->folder);
}

/* The program's own calls of libomptarget: each number in its place, and in time. */
static void make_calls(const void *trace)
{
    void *base[] = {&entry, &module}, *begin[] = {&module, &entry};
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
    setenv("FAKE_DEVICES", "3", 1);
    use_gpu(90);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "2", 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    uint64_t before = rex_trace_clock();
    __rex_real___tgt_target_data_begin(-1, 2, base, begin, sizes, types);
    __rex_real___tgt_target_data_update(1, 2, base, begin, sizes, types);
    __rex_real___tgt_target_data_end(0, 2, base, begin, sizes, types);
    /* librex's own, those that have a name. */
    const struct rex_map map = {.count = 2, .base = base, .begin = begin, .sizes = sizes, .types = types};
    CHECK_EQUAL(rex_call_data(REX_DATA_BEGIN, "mine", 2, &map), REX_OK);
    CHECK_EQUAL(rex_call_data(REX_DATA_UPDATE, "mine", 1, &map), REX_OK);
    CHECK_EQUAL(rex_call_data(REX_DATA_END, "mine", 0, &map), REX_OK);
    CHECK_EQUAL(rex_call_data(REX_DATA_BEGIN, NULL, 2, &map), REX_OK);
    the_record()->result = 3;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain__id__, &packet), 3);
    the_record()->result = 0;
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, &packet, 1, base, begin, sizes, types, 4, 6), 0);
    printf("%llu %llu", (unsigned long long)before, (unsigned long long)rex_trace_clock());
    CHECK_EQUAL(rex_trace_depth, 0);
    /* All tracks are free again. */
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_track_take(i)->id, (1 << 23) + 32 * i);
    exit(0);
}

TEST(test_calls)
{
    static const char because[] = "the program is linked with libomptarget itself, so that librex does not see all calls",
                      *const copies[] = {"\"bytes_to\":8,\"bytes_from\":0", "\"bytes_to\":8,\"bytes_from\":16", "\"bytes_to\":0,\"bytes_from\":16"};
    struct file *file = new_file();
    unsigned long long from, until;
    char expected[16][700], rows[128];
    size_t size, count = 0;
    assert_int_equal(sscanf(in_child(make_calls, file->path), "%llu %llu", &from, &until), 2);
    snprintf(rows, sizeof rows, "\"rows\":[\"to 8 bytes at %p\",\"from 16 bytes at %p\"]", (void *)&module, (void *)&entry);
    for (int i = 0; i < 6; i++) {
        static const char *const functions[] = {"begin", "update", "end"}, *const names[] = {"data begin", "data update", "data end", "mine"};
        const char *name = names[i < 3 ? i : 3];
        snprintf(expected[count++], sizeof *expected, "\"name\":\"%s\",\"args\":{\"function\":\"__tgt_target_data_%s%s\",\"device\":%d,%s,%s}}", name,
                 functions[i % 3], i < 3 ? "" : "_mapper", 2 - i % 3, rows, copies[i % 3]);
        snprintf(expected[count++], sizeof *expected, "\"name\":\"%s\",\"args\":{%s}}", name, copies[i % 3]);
    }
    snprintf(expected[count++], sizeof *expected,
             "\"name\":\"plain__kernel__\",\"args\":{\"function\":\"__tgt_target_kernel\",\"device\":1,\"key\":\"%p\",\"teams\":[2,3,5],"
             "\"threads\":[7,11,13],\"arguments\":2,\"dynamic_memory\":17,\"trip_count\":19,\"result\":3,%s,%s,\"by\":\"libomptarget\","
             "\"because\":\"%s\"}}",
             (void *)&plain__id__, rows, copies[1], because);
    snprintf(expected[count++], sizeof *expected, "\"name\":\"plain__kernel__\",\"args\":{%s}}", copies[1]);
    *strchr(rows, ',') = '\0';
    size_t last = count;
    snprintf(expected[count++], sizeof *expected, "\",\"teams\":[4,1,1],\"threads\":[6,1,1],\"arguments\":1,\"result\":0,%s],%s,\"by\":\"libomptarget\","
             "\"because\":\"%s\"}}", rows, copies[0], because);
    snprintf(expected[count++], sizeof *expected, "\"name\":\"unknown kernel\",\"args\":{%s}}", copies[0]);
    unsigned char *bytes = read_bytes(file->path, &size);
    char *text = calloc(1, size + 1), *rest = NULL;
    assert_non_null(text);
    memcpy(text, bytes, size);
    size_t found = 0;
    double end = (double)from / 1000;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        bool is_device = strstr(line, "\"cat\":\"device\"") != NULL;
        if (!is_device && strstr(line, "\"function\":") == NULL)
            continue;
        assert_true(found < count);
        const char *name = strstr(line, "\"name\":");
        const char *said = found == last ? strstr(line, "\",\"teams\"") : name;
        if (said == NULL || strcmp(said, expected[found]) != 0)
            fail_msg("%s\nand not\n%s", line, expected[found]);
        assert_true(found != last || strstr(name, "\"name\":\"unknown kernel\",\"args\":{\"function\":\"__tgt_target_teams\",\"device\":0,") == name);
        /* One after the other. */
        double begins = strtod(strstr(line, "\"ts\":") + 5, NULL), took = strtod(strstr(line, "\"dur\":") + 6, NULL);
        assert_true(is_device ? begins + took == end : begins >= end - 0.001);
        end = begins + took;
        assert_true(took >= 0 && end <= (double)until / 1000 + 0.001);
        found++;
    }
    assert_int_equal(found, count);
    free(text);
    free(bytes);
    remove_folder(file->folder);
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
    struct rex_line line = new_line();
    rex_line_launch(&line, (void *)0x2a, (const uint32_t[]){1, 2, 3}, (const uint32_t[]){4, 5, 6}, 7);
    assert_string_equal(line.text, ",\"key\":\"0x2a\",\"teams\":[1,2,3],\"threads\":[4,5,6],\"arguments\":7");
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

static char bytes_of_rows[2];

static bool is_second(const void *address)
{
    return address == bytes_of_rows + 1;
}

/* Rows whose memory is pinned say so, once somebody tells which it is. */
TEST(test_pinned_rows)
{
    void *begin[] = {bytes_of_rows, bytes_of_rows + 1, (void *)7};
    int64_t sizes[] = {1, 1, 8}, types[] = {1, 2, 0x120};
    char expected[256];
    for (int round = 0; round < 3; round++) {
        struct rex_line line = new_line();
        rex_line_pinned(round == 1 ? is_second : NULL);
        rex_line_rows(&line, 3, begin, sizes, types);
        snprintf(expected, sizeof expected, ",\"rows\":[\"to 1 bytes at %p\",\"from 1 bytes at %p%s\",\"target_param|literal 0x7, 8 bytes\"]",
                 begin[0], begin[1], round == 1 ? ", pinned" : "");
        assert_string_equal(line.text, expected);
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
