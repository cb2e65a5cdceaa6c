/*
 * trace.c - a whole trace, byte by byte, of what no machine of the tests has: three GPUs, an image that the program registers, calls of every
 * kind; names that are no text; the summary, with more kernels than fit.
 *
 * The driver and libomptarget are fakes. What the trace has of real calls is tested in tests/runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>

#include "inqueue.h"
#include "plain.h"
#include "base/log.h"
#include "cuda/pinned.h"
#include "rex/device.h"
#include "rex/interop.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "support/messages.h"
#include "trace/tracetext.h"

MESSAGES("configure");

static void launch(struct rex_queue *queue)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config description = rex_launch_config_of(&plain_id, 3, 64);
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    CHECK_EQUAL(launch_module_in(queue, &module, &description, &args), REX_OK);
}

static char folder[PATH_MAX - 32], path[PATH_MAX];

/* At the end of the process, which run_child() would leave out, the trace is finished. */
static void finish(struct rex_queue *queue)
{
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0);
    exit(0);
}

/* rules.mk leads calls here: a file takes a part at a time. */
__typeof__(write) __real_write, __wrap_write;
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
    return __real_write(descriptor, bytes, size < 100 ? size : 100);
}

/* ---- a whole file ------------------------------------------------------------------------------------------------ */

static char cells[24];

static int further; /* threads, each of which calls while the one before it is in a call */

static void *in_another_thread(void *unused)
{
    void *row = cells;
    int64_t size = 4, type = 1;
    CHECK_EQUAL(pthread_setname_np(pthread_self(), "worker"), 0);
    __rex_real___tgt_target_data_begin(0, 1, &row, &row, &size, &type);
    return unused;
}

static void call_from_another_thread(enum fake_function function)
{
    pthread_t thread;
    (void)function;
    if (further-- <= 0)
        return;
    CHECK_EQUAL(pthread_create(&thread, NULL, in_another_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
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
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain_id, &packet), 3);
    the_record()->result = 0;
    packet.DynCGroupMem = 0;
    packet.Tripcount = 0;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain_id, &packet), 0);
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, cells, 1, base, begin, sizes, types, 4, 6), 0);
}

static void do_all(const void *trace)
{
    static struct __tgt_offload_entry none;
    size_t size;
    struct rex_queue *queue = NULL, *other = NULL;
    unsigned char *bytes = lasting(read_bytes("tests/data/sm_90.cubin", &size));
    struct __tgt_device_image image = {bytes, bytes + size, &none, &none};
    struct __tgt_bin_desc *descriptor = lasting(malloc(sizeof *descriptor)); /* which is in no file */
    *descriptor = (struct __tgt_bin_desc){1, &image, &none, &none};
    program_invocation_short_name = (char[]){"a \"program\"\n"};
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
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 1, "100%%", REX_QUEUE_PRIORITY(9), NULL), REX_OK);
    launch(other);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuMemsetD8Async:2:0", 1);
    CHECK_EQUAL(rex_queue_fill(queue, cells, "", 1, 8), REX_ECUDA); /* is in no trace */
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 3, "host", 0, NULL), REX_OK);
    the_record()->copy_result = 1;
    CHECK_EQUAL(rex_queue_copy_to(other, cells, cells + 8, 8), REX_ERUNTIME); /* nor is this one */
    CHECK_EQUAL(rex_queue_fill(other, cells, "", 1, 65537), REX_ERUNTIME);
    the_record()->copy_result = 0;
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    char *memory[] = {rex_device_alloc(64, 0), rex_device_alloc(64, 1)};
    CHECK_EQUAL(rex_device_copy_to(memory[0], cells, 24, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(cells, memory[0], 16, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_peer(memory[1], 1, memory[0], 0, 8), REX_OK);
    the_record()->on_data = call_from_another_thread;
    for (int device = 0; device <= 64; device += 32) { /* 64 and further ones have no track */
        further = 2;
        __rex_real___tgt_target_data_begin(device, 0, NULL, NULL, NULL, NULL);
    }
    finish(queue);
}

/* TEXT with the process's number as P, those of its further threads as T, addresses as A, times as 0, and the build directory as B. */
static void normalise(char *text, char *to)
{
    long pid = strtol(strstr(text, "\"pid\":") + 6, NULL, 10);
    while (*text != '\0') {
        bool is_address = strncmp(text, "0x", 2) == 0, is_id = strncmp(text, "id\":", 4) == 0, is_begin = strncmp(text, "ts\":", 4) == 0;
        char *end = text;
        unsigned long long number = is_address ? strtoull(text, &end, 16) : is_id ? strtoull(text + 4, &end, 10) : 0;
        if (is_address && number > 4096) {
            *to++ = 'A';
        } else if (is_id && number < 1 << 22) {
            to += sprintf(to, "id\":%c", (long)number == pid ? 'P' : 'T');
        } else if (is_begin || strncmp(text, "dur\":", 5) == 0) {
            to += sprintf(to, is_begin ? "ts\":0" : "dur\":0");
            end = text + strcspn(text, ",");
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

/* TEXT with addresses as A. */
static const char *without_addresses(const char *text)
{
    static char copy[4096];
    size_t length = 0;
    while (*text != '\0' && length < sizeof copy - 1) {
        bool is_address = strncmp(text, "0x", 2) == 0;
        copy[length++] = is_address ? 'A' : *text;
        text += is_address ? 2 + strspn(text + 2, "0123456789abcdef") : 1;
    }
    copy[length] = '\0';
    return copy;
}

/* Every byte of a file, but for these. UPDATE=1 writes tests/golden/trace.json anew. */
TEST(test_every_byte)
{
    static const char golden[] = "tests/golden/trace.json";
    size_t size, expected_size;
    assert_string_equal(without_addresses(in_child(do_all, path)),
                        "librex: error: queue \"\"left\"\": a fill failed, 8 bytes at A: cuMemsetD8Async: CUDA_ERROR_OUT_OF_MEMORY [REX_ECUDA]\n"
                        "librex: error: rex_queue_copy_to: libomptarget could not copy 8 bytes between the host and device 3, from A to A [REX_ERUNTIME]\n"
                        "librex: error: rex_queue_fill: libomptarget could not fill 65536 bytes at A on device 3 [REX_ERUNTIME]\n");
    char *text = (char *)read_bytes(path, &size);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    normalise(text, text);
    if (getenv("UPDATE") != NULL) {
        unlink(golden); /* a copy of the tree may have it by a hard link */
        write_bytes(golden, text, strlen(text));
    }
    unsigned char *expected = read_bytes(golden, &expected_size);
    if (strlen(text) != expected_size || memcmp(text, expected, expected_size) != 0)
        fail_msg("not %s:\n%s", golden, text);
    free(expected);
    free(text);
}

/* Where the driver cannot compare its clock with the host's, or time a command, the trace has the calls alone. */
#define NOTHING "none:2:1"
static void trace_broken(const void *broken)
{
    struct rex_queue *queue = NULL;
    struct rex_graph *graph;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, path), REX_OK);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "broken", 0, NULL), REX_OK);
    launch(queue);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    launch(queue);
    launch(queue);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_graph_destroy(graph);
    if (strcmp(broken, NOTHING) == 0) { /* a second later the clocks are compared again */
        usleep(1001000);
        launch(queue);
        CHECK_EQUAL(driver_calls("cuEventSynchronize"), 2);
    }
    finish(queue);
}

TEST(test_broken_clocks)
{
    static const struct {
        const char *broken;
        int kernels, graphs;
    } clocks[] = {{NOTHING, 2, 1},             {"cuEventCreate:2:1", 0, 0}, {"cuEventRecord:2:1", 0, 0}, {"cuEventSynchronize:2:1", 0, 0},
                  {"cuEventCreate:2:2", 0, 1}, {"cuEventCreate:2:3", 0, 1}, {"cuEventRecord:2:2", 0, 1}, {"cuEventRecord:2:3", 0, 1},
                  {"cuEventElapsedTime:719:0", 0, 0}};
    for (size_t i = 0; i < COUNT(clocks); i++) {
        assert_string_equal(in_child(trace_broken, clocks[i].broken), "");
        assert_int_equal(in_file(path, "\"name\":\"graph launch\""), 1);
        assert_int_equal(in_file(path, "\"name\":\"plain__kernel__\""), clocks[i].kernels);
        assert_int_equal(in_file(path, "\"dur\":1500.000,\"name\":\"plain__kernel__\""), clocks[i].kernels);
        assert_int_equal(in_file(path, "\"dur\":1500.000,\"name\":\"graph of 2 launches\""), clocks[i].graphs);
    }
}

/* ---- when it is written ------------------------------------------------------------------------------------------ */

static void end_within(const void *trace)
{
    struct rex_slice slice = {.name = "whole", .category = "queue", .end = rex_trace_clock() + 1000000000};
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    rex_trace_start();
    rex_trace_slice(&slice);
    rex_output_lock();
    exit(0);
}

/* A process that ends in the midst of a slice, as in a signal's handler, leaves whole lines and no bracket, after a second. */
TEST(test_end_within)
{
    uint64_t begin = rex_trace_clock();
    assert_string_equal(in_child(end_within, path), "");
    assert_true(rex_trace_clock() - begin >= 1000000000);
    size_t size;
    char *text = (char *)read_bytes(path, &size);
    assert_memory_equal(text + size - 4, "{}}\n", 4);
    free(text);
    assert_int_equal(in_file(path, "\"name\":\"whole\""), 1);
}

/* How much longer the file is than it was the last time. */
static off_t written(void)
{
    static off_t before;
    struct stat status;
    CHECK_EQUAL(stat(path, &status), 0);
    CHECK_EQUAL(status.st_mode & 0111, 0);
    off_t more = status.st_size - before;
    before = status.st_size;
    return more;
}

/* Lines wait for each other until 10 ms have gone by, or there are 48 KiB of them. */
TEST_IN_CHILD(collect)
{
    enum { SECOND = 1000000000, MOST = 49152, LONGEST = 160 /* of these lines */ };
    struct rex_slice slice = {.name = "slice", .category = "queue", .end = rex_trace_clock() + SECOND};
    off_t more;
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, path), REX_OK);
    rex_trace_start();
    rex_trace_slice(&slice);
    CHECK(written() > 0);
    slice.end += 9999999;
    rex_trace_slice(&slice);
    CHECK_EQUAL(written(), 0);
    slice.end += 1;
    rex_trace_slice(&slice);
    CHECK(written() > 0);
    while ((more = written()) == 0)
        rex_trace_slice(&slice);
    CHECK(more > MOST && more <= MOST + LONGEST);
}

/* Where there is no file, calls are not traced. */
TEST_IN_CHILD(start_nowhere)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, "/nowhere/trace.json"), REX_OK);
    rex_trace_start();
    CHECK(!rex_trace_on());
}

/* A child of fork whose number has no room behind the name traces nothing. */
TEST_IN_CHILD(fork_nowhere)
{
    char longest[PATH_MAX];
    int status;
    memset(longest, '/', sizeof longest);
    strcpy(longest + sizeof longest - sizeof "dev/null", "dev/null");
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, longest), REX_OK);
    rex_trace_start();
    if (fork() == 0) {
        rex_trace_slice(&(struct rex_slice){.name = "slice", .category = "queue"});
        _exit(rex_trace_on());
    }
    CHECK(rex_trace_on() && wait(&status) > 0 && status == 0);
}

static int failing; /* of a file that is closed: the error that comes late, as of a server */
__typeof__(close) __real_close, __wrap_close;
int __wrap_close(int descriptor)
{
    int result = __real_close(descriptor);
    errno = failing != 0 ? failing : errno;
    return failing != 0 ? -1 : result;
}

/* A fork waits for librex's locks, so that none of them may be held here. */
static void say_and_fork(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    fputs(message, stderr);
    if (fork() == 0)
        _exit(0);
}

static void lose_last(const void *trace)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    rex_trace_start();
    rex_set_log_callback(say_and_fork, NULL);
    failing = EIO;
    exit(0);
}

TEST(test_error_at_end)
{
    assert_non_null(strstr(in_child(lose_last, path), "trace.json cannot be written: Input/output error"));
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
        rex_line_string(&line, "", strings[i].text);
        assert_string_equal(line.text, strings[i].expected);
        assert_false(line.full);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct rex_line line = new_line();
    rex_line_string(&line, "", name);
    assert_int_equal(line.length, 1024 + strlen("\"...\""));
    /* The longest that a name can become, and all rows, still fit. */
    memset(name, '\x01', sizeof name - 1);
    rex_line_string(&line, "", name);
    assert_false(line.full);
}

TEST(test_numbers)
{
    static const char blank[REX_LINE_MAX];
    struct rex_line line = new_line();
    rex_line_number(&line, "", INT64_MIN);
    rex_line_hexadecimal(&line, "", UINT64_MAX);
    for (int i = 0; i < 3; i++)
        rex_line_time(&line, " ", (uint64_t[]){5, 1999, 7002010}[i]);
    assert_string_equal(line.text, "-92233720368547758080xffffffffffffffff 0.005 1.999 7002.010");
    const size_t length = line.length;
    /* As much as there is room for; what has none is left out whole. */
    rex_line_bytes(&line, blank, REX_LINE_MAX - length);
    assert_true(line.full && line.length == length);
    rex_line_bytes(&line, blank, REX_LINE_MAX - length - 1);
    assert_int_equal(line.length, REX_LINE_MAX - 1);
}

/* Bytes of rows of every type, of parts, of more than a number holds; and no more than 32 of them in words. */
TEST(test_rows)
{
    enum { ROWS = 40 };
    const uint64_t PARTS = (uint64_t)1 << 44; /* it is not contiguous */
    struct {
        uint64_t offset, count, stride;
    } dimensions[] = {{0, 3, 64}, {0, 1, 24}}, huge[] = {{0, UINT64_MAX, 64}, {0, 2, 24}};
    const struct {
        void *begin;
        int64_t size;
        uint64_t type;
        int64_t bytes;
    } cases[] = {
        {text, 8, 0x21, 8},        {text, 8, 0x3, 8},          {text, 8, 0x22, 0},          {text, 8, 0x20, 0},
        {text, 8, 0x121, 0},       {text, 8, 0xa1, 0},         {text, -8, 0x1, 0},         {dimensions, 2, PARTS | 1, 3 * 24},
        {dimensions + 1, 1, PARTS | 1, 24}, {dimensions, 0, PARTS | 1, 0}, {dimensions, -1, PARTS | 1, 0}, {huge, 2, PARTS | 1, INT64_MAX},
    };
    void *begin[ROWS];
    int64_t sizes[ROWS], types[ROWS];
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin[0] = cases[i].begin;
        sizes[0] = cases[i].size;
        types[0] = (int64_t)cases[i].type;
        assert_int_equal(rex_rows_bytes(1, begin, sizes, types, 1), cases[i].bytes);
    }
    for (int i = 0; i < ROWS; i++) {
        begin[i] = text;
        sizes[i] = INT64_MAX / 2;
        types[i] = 1;
    }
    assert_int_equal(rex_rows_bytes(2, begin, sizes, types, 1), INT64_MAX - 1);
    assert_int_equal(rex_rows_bytes(ROWS, begin, sizes, types, 1), INT64_MAX);
    struct rex_line line = new_line();
    rex_line_rows(&line, ROWS, begin, sizes, types, rex_is_pinned);
    assert_int_equal(occurrences(line.text, " bytes"), 32);
    assert_non_null(strstr(line.text, ",\"and 8 more\"]"));
    for (int missing = 0; missing < 3; missing++) {
        line = new_line();
        rex_line_rows(&line, 1, missing != 0 ? begin : NULL, missing != 1 ? sizes : NULL, missing != 2 ? types : NULL,
                      rex_is_pinned);
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
        slice.because = i % 1500 < 40 ? name : NULL;
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
    char *name = program_invocation_short_name;
    rex_tracing = REX_TRACE_SUMMARY;
    rex_trace_slice(&(struct rex_slice){.name = "counted nowhere"});
    assert_string_equal(said_by(print_summary), "");
    for (size_t i = 0; i < COUNT(slices); i++)
        rex_trace_slice(&slices[i]);
    rex_tracing = REX_TRACE_NOWHERE;
    rex_trace_slice(&slices[0]);
    program_invocation_short_name = (char[]){"a\nb"};
    const char *said = said_by(print_summary);
    program_invocation_short_name = name;
    says("%s", strstr(said, "  kernel "));
    assert_ptr_equal(strstr(said, "\nlibrex: summary of a\\x0ab, process "), said);
    rex_summary_forget();
    assert_string_equal(said_by(print_summary), "");
    rex_summary_add(&slices[1]); /* the only one that has a reason */
    says("%s", strstr(said_by(print_summary), "  kernel "));
    rex_summary_forget();
}

/* 1024 of the 1500 have a row of their own, with two calls each; so have 31 of the 40 reasons. */
TEST(test_more_kernels_than_rows)
{
    const char *output = said_by(many_kernels);
    assert_int_equal(occurrences(output, "\n  kernel_"), 1024);
    assert_int_equal(occurrences(output, "\n  [31] kernel_30\n  [32] other reasons\n\n"), 1);
    assert_int_equal(occurrences(output, " [32]\n"), 40 - 31);
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
