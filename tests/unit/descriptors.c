/*
 * descriptors.c - the files that librex writes to, in programs that do with descriptors, limits and
 * pipes as they like: the log, the trace and the cache neither touch what is the program's nor end
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"
#include "support/messages.h"
#include "trace/trace.h"

MESSAGES("configure");

static char folder[PATH_MAX - 64];

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

/* ---- what is written ------------------------------------------------------------------------- */

static void start_log(const char *name)
{
    char value[PATH_MAX + 8];
    snprintf(value, sizeof value, "info:%s", in_folder(name));
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, value), 0);
}

static void start_trace(const char *name)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, in_folder(name)), 0);
    rex_trace_start();
}

/* An event that is written at once: the last write was more than 10 ms ago. */
static void trace_event(const char *name)
{
    usleep(11000);
    uint64_t now = rex_trace_clock();
    rex_trace_slice(
        &(struct rex_slice){.name = name, .category = "phase", .begin = now - 1000, .end = now});
}

static off_t size_of(const char *name)
{
    struct stat status;
    return stat(in_folder(name), &status) == 0 ? status.st_size : -1;
}

/* Strict JSON, with every event that was not lost. */
static void check_trace(const char *name, const char *expected)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "python3 tests/trace/check.py '%s' %s", in_folder(name),
             expected);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static int first_free(void)
{
    int descriptor = open("/dev/null", O_RDONLY);
    CHECK(descriptor >= 0);
    close(descriptor);
    return descriptor;
}

enum { NUMBERS = 1024 };

static void close_from(int first)
{
    for (int i = first; i < NUMBERS; i++)
        close(i);
}

/* The program has NAME under each number that it may have from 3 on. */
static void take_all_numbers(const char *name, int flags)
{
    close_from(3);
    CHECK_EQUAL(open(in_folder(name), flags, 0600), 3);
    for (int i = 4; i < NUMBERS - 8; i++) /* others may have to be opened */
        CHECK_EQUAL(dup(3), i);
}

static void check_all_numbers(void)
{
    for (int i = 3; i < NUMBERS - 8; i++)
        CHECK(fcntl(i, F_GETFD) >= 0);
}

static void limit_numbers(rlim_t most)
{
    struct rlimit files;
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = most;
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* A trace with one event, in a process with few descriptors. */
static void begin_trace(const char *name)
{
    limit_numbers(NUMBERS);
    start_trace(name);
    trace_event("before");
}

static void close_all(const void *unused_context __attribute__((__unused__)))
{
    int first = first_free();
    start_log("closed.log");
    begin_trace("closed.json");
    rex_log(REX_LOG_INFO, "before");
    CHECK_EQUAL(first_free(), first);
    CHECK_EQUAL(fcntl(first + 1, F_GETFD), -1);
    for (int i = 0; i < 2; i++) {
        take_all_numbers("program's", O_RDWR | O_CREAT | O_APPEND);
        CHECK_EQUAL(chdir("/"), 0);
        rex_log(REX_LOG_INFO, "after");
        trace_event("after");
        check_all_numbers();
    }
    CHECK_EQUAL(size_of("program's"), 0);
    close_from(3);
    exit(0);
}

TEST(test_closed_by_the_program)
{
    assert_string_equal(in_child(close_all, NULL), "");
    assert_int_equal(in_file(in_folder("closed.log"),
                             "librex: info: before\nlibrex: info: after\nlibrex: info: after\n"),
                     1);
    check_trace("closed.json", "phase/before=1 phase/after=2");
    assert_int_equal(size_of("program's"), 0);
}

/* The program has closed the trace, and has opened it in another way: it goes on. It is another
 * file now, or gone; or somebody else has written to it since, or is about to: it stays as it is. */
static void taken_over(const void *how)
{
    bool goes_on = strcmp(how, "same") == 0;
    begin_trace("taken.json");
    take_all_numbers("taken.json", O_RDWR | O_APPEND);
    if (strcmp(how, "replaced") == 0) {
        CHECK_EQUAL(rename(in_folder("taken.json"), in_folder("renamed.json")), 0);
        take_all_numbers("taken.json", O_RDWR | O_CREAT);
        CHECK_EQUAL(ftruncate(3, size_of("renamed.json")), 0); /* and is as large */
    } else if (strcmp(how, "removed") == 0)
        CHECK_EQUAL(unlink(in_folder("taken.json")), 0);
    else if (strcmp(how, "written") == 0)
        CHECK_EQUAL(write(3, "x", 1), 1);
    else if (!goes_on)
        CHECK_EQUAL(flock(3, LOCK_EX), 0);
    off_t size = size_of("taken.json");
    for (int i = 0; i < 3; i++)
        trace_event("after");
    CHECK_EQUAL(size_of("taken.json") > size, goes_on);
    CHECK_EQUAL(flock(3, LOCK_EX | LOCK_NB) == 0, !goes_on);
    check_all_numbers();
    exit(0);
}

TEST(test_taken_over)
{
    assert_string_equal(in_child(taken_over, "same"), "");
    check_trace("taken.json", "phase/before=1 phase/after=3");
    says("%s", in_child(taken_over, "written"));
    says("%s", in_child(taken_over, "locked"));
    says("%s", in_child(taken_over, "removed"));
    says("%s", in_child(taken_over, "replaced"));
    check_trace("renamed.json", "--cut phase/before=1");
}

static void without_standard_files(const void *most)
{
    limit_numbers(*(const rlim_t *)most);
    for (int i = 0; i < 3; i++)
        close(i);
    start_trace("closed2.json");
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(fcntl(i, F_GETFD), -1);
    trace_event("before");
    rex_log(REX_LOG_WARN, "to nobody");
    start_log("closed2.log");
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(fcntl(i, F_GETFD), -1);
    rex_log(REX_LOG_WARN, "to the log");
    CHECK_EQUAL(open("/dev/null", O_RDONLY), 0);
    CHECK_EQUAL(dup(0), 1);
    CHECK_EQUAL(dup(0), 2);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_log(REX_LOG_WARN, "to nobody");
    trace_event("after");
    exit(0);
}

/* With a high limit of descriptors and with a low one. */
TEST(test_no_standard_error)
{
    for (int i = 1; i < 3; i++) {
        in_child(without_standard_files, i == 1 ? &(const rlim_t){NUMBERS} : &(const rlim_t){64});
        check_trace("closed2.json", "phase/before=1 phase/after=1");
        assert_int_equal(in_file(in_folder("closed2.json"), "nobody"), 0);
        assert_int_equal(in_file(in_folder("closed2.log"), "librex: warning: to the log\n"), i);
        assert_int_equal(in_file(in_folder("closed2.log"), "nobody"), 0);
    }
}

/* ---- pipes ----------------------------------------------------------------------------------- */

static void no_reader(const void *context)
{
    (void)context;
    start_log("pipe");
    start_trace("pipe");
    rex_log(REX_LOG_INFO, "goes on");
    /* A socket cannot be opened either, for the same reason, and is no pipe. */
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    CHECK(chdir(folder) == 0);
    CHECK(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name) == 0);
    start_log("socket");
}

static void reader_leaves(const void *context)
{
    sigset_t pipe_signal, pending;
    (void)context;
    int log_reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK),
        trace_reader = open(in_folder("other"), O_RDONLY | O_NONBLOCK);
    CHECK(log_reader >= 0 && trace_reader >= 0);
    start_log("pipe");
    start_trace("other");
    close(log_reader);
    close(trace_reader);
    for (int i = 0; i < 3; i++)
        rex_log(REX_LOG_INFO, "line %d", i);
    for (int i = 0; i < 3; i++)
        trace_event("lost");
    sigemptyset(&pending);
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGPIPE));
    /* One that the program has itself stays. */
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
    raise(SIGPIPE);
    log_reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    start_log("./pipe");
    close(log_reader);
    rex_log(REX_LOG_INFO, "line 3");
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE));
}

/* More than the pipe holds: nothing is lost where the reader is slow. */
static void reader_is_slow(const void *context)
{
    enum { LINES = 3000 };
    char command[PATH_MAX + 40];
    int lines = 0;
    (void)context;
    snprintf(command, sizeof command, "{ sleep 0.1; wc -l; } <'%s'", in_folder("pipe"));
    FILE *reader = popen(command, "r");
    CHECK(reader != NULL);
    int writer = open(in_folder("pipe"), O_WRONLY); /* waits for the reader */
    start_log("pipe");
    close(writer);
    for (int i = 0; i < LINES; i++)
        rex_log(REX_LOG_INFO, "%080d", i);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK(fscanf(reader, "%d", &lines) == 1 && pclose(reader) == 0);
    CHECK_EQUAL(lines, LINES);
}

TEST(test_pipes)
{
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(mkfifo(in_folder("other"), 0600), 0);
    says("%s", in_child(no_reader, NULL));
    says("%s", in_child(reader_leaves, NULL));
    in_child(reader_is_slow, NULL);
}

/* ---- the largest size of a file -------------------------------------------------------------- */

static void limit_size(rlim_t size)
{
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, RLIM_INFINITY}), 0);
}

static void all_too_large(const void *context)
{
    (void)context;
    start_log("limited.log");
    start_trace("limited.json");
    trace_event("before");
    limit_size(2000);
    for (int i = 0; i < 100; i++) {
        trace_event("one of many");
        rex_log(REX_LOG_INFO, "line %d of a hundred", i);
    }
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), 0);
    exit(0);
}

TEST(test_limit)
{
    const char *output = in_child(all_too_large, NULL);
    assert_int_equal(
        in_file(in_folder("limited.log"), "limited.json cannot be written: File too large"), 1);
    assert_int_equal(
        occurrences(output,
                    "limited.log cannot be written: File too large; standard error is used"),
        1);
    check_trace("limited.json", "--cut phase/before=1 'phase/one of many=+'");
}

int main(void)
{
    char made[PATH_MAX];
    make_folder(made);
    setenv("REX_LOG", "warn", 1);
    snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, made);
    int result = run_all_tests();
    remove_folder(folder);
    return result;
}
