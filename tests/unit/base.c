/*
 * base.c - what all rooms stand on: names as they are printed and looked for, files read and written, the file that is kept open, forks.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>

#include "base/file.h"
#include "base/fork.h"
#include "base/loader.h"
#include "base/names.h"
#include "base/output.h"
#include "rex/configure.h"
#include "rex/detail.h"
#include "rex/device.h"

/* BODY in a child whose folder is a new one. */
static void in_folder(void (*body)(const void *))
{
    char folder[PATH_MAX], home[PATH_MAX];
    make_folder(folder);
    assert_non_null(getcwd(home, sizeof home));
    assert_int_equal(chdir(folder), 0);
    in_child(body, NULL);
    assert_int_equal(chdir(home), 0);
    remove_folder(folder);
}

/* The number that the next descriptor gets, which a descriptor that stays open would take. */
static int next_descriptor(void)
{
    int next = open("/dev/null", O_RDONLY);
    CHECK(next >= 0);
    close(next);
    return next;
}

/* ---- calls that fail ------------------------------------------------------------------------------------------------ */

/* The next call of it fails with ERROR; 0: it does nothing, and returns 0. rules.mk leads the calls here. */
static const char *failing = "";
static int failing_error;

static void fail_next(const char *call, int error)
{
    failing = call;
    failing_error = error;
}

/* The real call's result, unless it is the one. */
#define FAIL(call, real)                    \
    do {                                    \
        if (strcmp(failing, (call)) != 0)   \
            return (real);                  \
        failing = "";                       \
        errno = failing_error;              \
        return failing_error != 0 ? -1 : 0; \
    } while (0)

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    FAIL("read", __real_read(fd, bytes, size));
}
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    FAIL("write", __real_write(fd, bytes, size));
}
int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
    FAIL("fstat", __real_fstat(fd, status));
}
int __real_fcntl(int fd, int command, long argument);
int __wrap_fcntl(int fd, int command, long argument);
int __wrap_fcntl(int fd, int command, long argument)
{
    FAIL(command == F_GETFL ? "F_GETFL" : "another", __real_fcntl(fd, command, argument));
}

/* Nothing says that it leaves errno alone where it succeeds. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int result = __real_close(fd);
    errno = result == 0 ? EINTR : errno;
    return result;
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* First and last of each form of RFC 3629, and what is next to them. */
TEST(test_utf8)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 0},
        {"\x01", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xc2\x7f", 0},
        {"\xdf\xbf", 2},
        {"\xdf\xc0", 0},
        {"\xe0\x9f\x80", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe0\xa0\x7f", 0},
        {"\xe0\xa0\xc0", 0},
        {"\xe1\x80\x80", 3},
        {"\xe1\x7f\x80", 0},
        {"\xec\xbf\xbf", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xc0\xbf", 0},
        {"\xf0\x8f\x80\x80", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf0\x90\x80\x7f", 0},
        {"\xf0\x90\x80\xc0", 0},
        {"\xf0\x90\xc0\x80", 0},
        {"\xf1\x80\x80\x80", 4},
        {"\xf3\xbf\xbf\xbf", 4},
        {"\xf3\xbf\xbf", 0},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (rex_utf8_length(cases[i].text) != cases[i].length)
            fail_msg("case %zu has %zu bytes", i, rex_utf8_length(cases[i].text));
}

TEST(test_escapes)
{
    char text[64] = "a\n\x1f\x7f\xc2\x9f\xc2\xa0\xf0\x90\x80\x80";
    rex_escape_lines(text, sizeof text);
    assert_string_equal(text, "a\n\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    rex_escape(text, sizeof text);
    assert_string_equal(text, "a\\x0a\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    /* What has no room is left out, and nothing of it is left. */
    static const char *const cut[] = {"", "a", "a", "a", "a", "a\\x0a", "a\\x0ab"};
    for (size_t size = 2; size < 8; size++) {
        char little[] = "a\nb";
        memset(text, '!', sizeof text);
        memcpy(text, little, sizeof little);
        rex_escape(text, size < 4 ? 4 : size);
        assert_string_equal(text, cut[(size < 4 ? 4 : size) - 1]);
    }
}

/* ---- the nearest name -------------------------------------------------------------------------------------------- */

TEST(test_nearest)
{
    static const struct {
        const char *wanted, *name;
        size_t edits; /* SIZE_MAX: not near */
    } cases[] = {
        {"axpy__kernel__", "axpy__kernel__", 0},
        {"axpy__kernel__", "axpz__kernel__", 1},
        {"axpy__kernel__", "axp__kernel__", 1},
        {"axpy__kernel__", "aaxpy__kernel__", 1},
        {"axpy__kernel__", "bxpz__kernel__", 2},
        {"axpy__kernel__", "xapz__kernel__", 2}, /* two are swapped */
        {"axpy__kernel__", "xbpz__kernel__", SIZE_MAX}, /* 3 of 4 */
        {"axpy__kernel__", "axyp__kernel__", 1},
        {"abcdef1", "bacdfe2", 3},
        {"abcdef1", "cabdef2", 3}, /* no neighbours */
        {"axpy__kernel__", "spmv__kernel__", SIZE_MAX},
        {"abcdefgh1", "abcdefgh2", 1},
        {"abcdefg", "bcdefgh", 2},
        {"abcdef1", "xyzdef2", SIZE_MAX},
        {"abcdef1", "xycdef2", 3},
        {"a", "b", 1},
        {"a", "bc", SIZE_MAX},
        {"a", "", 1},
        {"", "a", 1},
        {"", "", 0},
        {"ab", "ba", 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_nearest nearest = {.wanted = cases[i].wanted};
        rex_nearest_try(&nearest, cases[i].name);
        if ((nearest.name != NULL) != (cases[i].edits != SIZE_MAX) || (nearest.name != NULL && nearest.edits != cases[i].edits))
            fail_msg("\"%s\" is %s, %zu edits from \"%s\"", cases[i].name, nearest.name != NULL ? "near" : "not near", nearest.edits,
                     cases[i].wanted);
    }
}

TEST(test_nearest_of_some)
{
    static const char *const names[] = {"bxpz__kernel__", "axpz__kernel__", "axpq__kernel__", "axpy__kernel__", "axpy__kernel__"};
    static const char *const nearest_then[] = {"bxpz__kernel__", "axpz__kernel__", "axpz__kernel__", "axpy__kernel__", "axpy__kernel__"};
    static const size_t edits[] = {2, 1, 1, 0, 0};
    struct rex_nearest nearest = {.wanted = "axpy__kernel__"};
    for (size_t i = 0; i < COUNT(names); i++) {
        rex_nearest_try(&nearest, names[i]);
        assert_string_equal(nearest.name, nearest_then[i]);
        assert_int_equal(nearest.edits, edits[i]);
    }
    assert_ptr_equal(nearest.name, names[3]);
}

/* How much is looked at, and when it is enough. */
TEST(test_steps)
{
    static char wanted[300], name[300];
    struct rex_nearest nearest = {.wanted = "axpy__kernel__"};
    rex_nearest_try(&nearest, "axpz__kernel__");
    assert_int_equal(nearest.steps, 14 + 14 + 4 * 4);
    nearest = (struct rex_nearest){.wanted = "axpy__kernel__"};
    rex_nearest_try(&nearest, "a_name_that_is_longer_than_two");
    assert_int_equal(nearest.steps, 14 + 30);
    nearest = (struct rex_nearest){.wanted = "a", .steps = (1 << 21) - 1};
    rex_nearest_try(&nearest, "a");
    assert_non_null(nearest.name);
    nearest = (struct rex_nearest){.wanted = "a", .steps = 1 << 21};
    rex_nearest_try(&nearest, "a");
    assert_null(nearest.name);
    for (size_t length = 255; length <= 256; length++)
        for (int longer = 0; longer < 2; longer++) {
            memset(wanted, 'a', sizeof wanted);
            memset(name, 'a', sizeof name);
            wanted[length] = name[length] = '\0';
            *(longer ? &wanted[length - 1] : &name[length - 1]) = longer ? '\0' : 'b';
            name[length - 1] = 'b';
            nearest = (struct rex_nearest){.wanted = wanted};
            rex_nearest_try(&nearest, name);
            assert_int_equal(nearest.name != NULL, length == 255);
        }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static size_t want_three(int fd, size_t size, char *why, size_t why_size)
{
    (void)fd, (void)why, (void)why_size;
    CHECK_EQUAL(size, 5);
    return 3;
}

static size_t want_nothing(int fd, size_t size, char *why, size_t why_size)
{
    (void)fd, (void)size;
    snprintf(why, why_size, "not wanted");
    errno = EDOM;
    return 0;
}

static size_t want_what_goes(int fd, size_t size, char *why, size_t why_size)
{
    (void)fd, (void)why, (void)why_size;
    CHECK_EQUAL(truncate("five", 0), 0);
    return size;
}

#ifndef __SANITIZE_ADDRESS__ /* which ends a process that asks for so much */
static size_t want_too_much(int fd, size_t size, char *why, size_t why_size)
{
    (void)fd, (void)size, (void)why, (void)why_size;
    return SIZE_MAX / 4;
}
#endif

static void refused(const char *path, rex_file_want *want, const char *because, int error)
{
    char why[128] = "";
    struct rex_bytes file = {.size = 42};
    errno = ENOTTY;
    int result = want != NULL ? rex_file_read_wanted(path, want, &file, why, sizeof why) : rex_file_read(path, &file, why, sizeof why);
    int was = errno;
    CHECK_EQUAL(result, -1);
    CHECK_EQUAL(was, error);
    CHECK_MENTIONS(why, because);
    CHECK_EQUAL(strlen(why), strlen(because));
    CHECK(file.bytes == NULL && file.size == 42);
}

static void reads(const void *context)
{
    char why[128];
    struct rex_bytes file;
    (void)context;
    int next = next_descriptor();
    CHECK_EQUAL(mkdir("folder", 0700), 0);
    CHECK_EQUAL(mkfifo("pipe", 0600), 0);
    CHECK_EQUAL(close(open("empty", O_WRONLY | O_CREAT, 0600)), 0);
    write_bytes("five", "12345", 5);
    refused("missing", NULL, "open: No such file or directory", ENOENT);
    refused("folder", NULL, "it is a directory", 0);
    refused("pipe", NULL, "it is not a regular file", 0);
    refused("empty", NULL, "it is empty", 0);
    refused("five", want_nothing, "not wanted", EDOM);
#ifndef __SANITIZE_ADDRESS__
    refused("five", want_too_much, "malloc: Cannot allocate memory", ENOMEM);
#endif
    CHECK_EQUAL(rex_file_read_wanted("five", want_three, &file, why, sizeof why), 0);
    CHECK(file.size == 3 && memcmp(file.bytes, "123", 3) == 0 && file.status.st_size == 5);
    free(file.bytes);
    CHECK_EQUAL(rex_file_read("five", &file, why, sizeof why), 0);
    CHECK(file.size == 5 && memcmp(file.bytes, "12345", 5) == 0);
    free(file.bytes);
    CHECK_EQUAL(next_descriptor(), next);
    int fd = open("five", O_RDONLY);
    CHECK_EQUAL(rex_file_read_open(fd, &file, why, sizeof why), 0);
    CHECK(file.size == 5 && memcmp(file.bytes, "12345", 5) == 0);
    free(file.bytes);
    CHECK_EQUAL(close(fd), 0);
    refused("five", want_what_goes, "it shrank while it was read", 0);
    CHECK_EQUAL(next_descriptor(), next);
    /* Opened for reading, what is no file may fail only then. */
    CHECK_EQUAL(rex_file_read_open(-1, &file, why, sizeof why), -1);
    CHECK_MENTIONS(why, "fstat: Bad file descriptor");
    write_bytes("five", "12345", 5);
    CHECK((fd = open("five", O_WRONLY)) >= 0);
    CHECK_EQUAL(rex_file_read_open(fd, &file, why, sizeof why), -1);
    CHECK_MENTIONS(why, "read: Bad file descriptor");
}

TEST(test_reading)
{
    in_folder(reads);
}

/* ---- names of files ---------------------------------------------------------------------------------------------- */

TEST(test_names)
{
    static char pattern[2 * PATH_MAX], path[PATH_MAX], expected[PATH_MAX];
    char number[32];
    bool is_numbered;
    int digits = snprintf(number, sizeof number, "%ld", (long)getpid());
    assert_true(rex_file_name("a%p-%%p%q%", path, &is_numbered));
    snprintf(expected, sizeof expected, "a%s-%%p%%q%%", number);
    assert_string_equal(path, expected);
    assert_true(is_numbered);
    assert_true(rex_file_name("%%p", path, &is_numbered));
    assert_string_equal(path, "%p");
    assert_false(is_numbered);

    memset(pattern, 'x', sizeof pattern - 1);
    assert_false(rex_file_name(pattern, path, &is_numbered));
    assert_int_equal(strlen(path), PATH_MAX - 1);
    pattern[PATH_MAX] = '\0';
    assert_false(rex_file_name(pattern, path, &is_numbered));
    pattern[PATH_MAX - 1] = '\0';
    assert_true(rex_file_name(pattern, path, &is_numbered));
    assert_string_equal(path, pattern);
    for (int more = 0; more < 2; more++) {
        memset(pattern, 'x', PATH_MAX);
        strcpy(pattern + PATH_MAX - 1 - digits + more, "%p");
        assert_int_equal(rex_file_name(pattern, path, &is_numbered), !more);
        assert_int_equal(strlen(path), PATH_MAX - 1);
        assert_int_equal(strncmp(path + PATH_MAX - 1 - digits + more, number, (size_t)(digits - more)), 0);

        memset(path, 'x', PATH_MAX);
        path[PATH_MAX - 2 - digits + more] = '\0';
        strcpy(expected, path);
        assert_int_equal(rex_file_number(path), !more);
        if (!more)
            strcat(strcat(expected, "."), number);
        assert_string_equal(path, expected);
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool is_pending(int number)
{
    sigset_t pending;
    CHECK_EQUAL(sigpending(&pending), 0);
    return sigismember(&pending, number) == 1;
}

static void block_one(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &one, NULL), 0);
}

static bool only_blocked(int number)
{
    sigset_t now;
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    for (int each = 1; each < 32; each++)
        if (sigismember(&now, each) != (each == number))
            return false;
    return true;
}

/* A pipe without a reader, and a file that may not grow. */
static void writes(const void *context)
{
    static const int numbers[] = {SIGPIPE, SIGXFSZ}, errors[] = {EPIPE, EFBIG};
    int ends[2], fds[2];
    size_t done = 42;
    (void)context;
    CHECK_EQUAL(pipe(ends), 0);
    CHECK_EQUAL(rex_file_write(ends[1], "abc", 3, &done), 0);
    CHECK_EQUAL(done, 3);
    CHECK_EQUAL(close(ends[0]), 0);
    fds[0] = ends[1];
    fds[1] = open("little", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){10, 10}), 0);
    CHECK_EQUAL(rex_file_write(fds[1], "0123456789abcdef", 16, &done), EFBIG);
    CHECK_EQUAL(done, 10);
    CHECK_EQUAL(rex_file_write(-1, "abc", 3, &done), EBADF);
    CHECK_EQUAL(done, 0);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        block_one(SIGUSR1);
        CHECK_EQUAL(rex_file_write(fds[i], "abc", 3, &done), errors[i]);
        CHECK_EQUAL(done, 0);
        CHECK(only_blocked(SIGUSR1));
        block_one(numbers[i]);
        CHECK_EQUAL(rex_file_write(fds[i], "abc", 3, &done), errors[i]);
        CHECK(!is_pending(numbers[i]) && only_blocked(numbers[i]));
        CHECK_EQUAL(raise(numbers[i]), 0);
        CHECK_EQUAL(rex_file_write(fds[i], "abc", 3, &done), errors[i]);
        CHECK(is_pending(numbers[i]) && only_blocked(numbers[i]));
        signal(numbers[i], SIG_IGN); /* which it is gone with */
    }
}

TEST(test_writing)
{
    in_folder(writes);
}

/* ---- the file that is kept open ---------------------------------------------------------------------------------- */

static struct rex_output output;

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Where the descriptor goes, and how it is open. */
static void high_numbers(const void *context)
{
    static const int limits[][2] = {{1024, 960}, {1023, 511}, {64, 32}};
    (void)context;
    umask(0);
    for (size_t i = 0; i < COUNT(limits); i++) {
        limit_descriptors((rlim_t)limits[i][0]);
        int next = next_descriptor();
        CHECK_EQUAL(rex_output_open(&output, "out"), 0);
        CHECK_EQUAL(output.descriptor, limits[i][1]);
        CHECK_EQUAL(next_descriptor(), next);
        CHECK_EQUAL(fcntl(output.descriptor, F_GETFD, 0), FD_CLOEXEC);
        CHECK_EQUAL(fcntl(output.descriptor, F_GETFL, 0) & (O_ACCMODE | O_APPEND | O_NONBLOCK), O_WRONLY | O_APPEND);
        CHECK_EQUAL(output.status.st_mode & 0777, 0666);
        CHECK(rex_output_is_open(&output));
        CHECK_EQUAL(rex_output_close(&output), 0);
        CHECK_EQUAL(output.descriptor, -1);
        CHECK_EQUAL(fcntl(limits[i][1], F_GETFD), -1);
        CHECK_EQUAL(rex_output_close(&output), 0);
    }
    /* All high ones taken: a low one serves, but for 0 to 2. */
    while (dup(STDOUT_FILENO) >= 0)
        ;
    close(10);
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    CHECK_EQUAL(output.descriptor, 10);
    CHECK_EQUAL(rex_output_close(&output), 0);
    close(STDIN_FILENO);
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    CHECK_EQUAL(output.descriptor, 10);
    CHECK_EQUAL(fcntl(STDIN_FILENO, F_GETFD), -1);
    CHECK_EQUAL(dup(STDOUT_FILENO), STDIN_FILENO);
    CHECK_EQUAL(rex_output_close(&output), 0);
    CHECK_EQUAL(dup(STDOUT_FILENO), 10);
    close(STDIN_FILENO);
    CHECK_EQUAL(rex_output_open(&output, "out"), EMFILE);
    CHECK_EQUAL(output.descriptor, -1);
    CHECK_EQUAL(fcntl(STDIN_FILENO, F_GETFD), -1);
    CHECK_EQUAL(dup(STDOUT_FILENO), STDIN_FILENO);
    close(STDERR_FILENO);
    int error = rex_output_open(&output, "out");
    CHECK_EQUAL(dup2(STDOUT_FILENO, STDERR_FILENO), STDERR_FILENO);
    CHECK_EQUAL(error, EMFILE);
    for (int number = STDERR_FILENO + 1; number < 64; number++)
        close(number); /* for who looks for lost memory */
}

/* What the program has put under the number is not written to. */
static void other_files(const void *context)
{
    static const int flags[] = {O_WRONLY | O_APPEND, O_WRONLY, O_RDWR | O_APPEND, O_RDONLY | O_APPEND};
    (void)context;
    write_bytes("another", "x", 1);
    for (size_t i = 0; i < COUNT(flags); i++) {
        CHECK_EQUAL(rex_output_open(&output, "out"), 0);
        int number = output.descriptor, own = open("out", flags[i]);
        CHECK_EQUAL(dup2(own, number), number);
        CHECK_EQUAL(rex_output_is_open(&output), i == 0);
        CHECK_EQUAL(output.descriptor, i == 0 ? number : -1);
        CHECK_EQUAL(rex_output_close(&output), 0);
        CHECK_EQUAL(close(number), i == 0 ? -1 : 0);
    }
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    int number = output.descriptor, other = open("another", O_WRONLY | O_APPEND);
    CHECK_EQUAL(dup2(other, number), number);
    CHECK_EQUAL(rex_output_close(&output), 0);
    CHECK_EQUAL(close(number), 0); /* which was not librex's any more */
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    close(output.descriptor);
    CHECK(!rex_output_is_open(&output));
    CHECK_EQUAL(output.descriptor, -1);
}

/* The same file again, whatever has become of the folder and of the name. */
static void again(const void *context)
{
    char path[PATH_MAX];
    (void)context;
    CHECK_EQUAL(mkdir("folder", 0700), 0);
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    CHECK(getcwd(path, sizeof path) != NULL);
    strcat(path, "/out");
    CHECK(strcmp(output.path, path) == 0);
    CHECK_EQUAL(chdir("folder"), 0);
    close(output.descriptor);
    int next = next_descriptor();
    CHECK_EQUAL(rex_output_reopen_same(&output), 0);
    CHECK(output.descriptor > next && rex_output_is_open(&output));
    int number = output.descriptor;
    close(number);
    output.descriptor = -1;
    CHECK_EQUAL(rename("../out", "../moved"), 0);
    CHECK_EQUAL(rex_output_reopen_same(&output), ENOENT);
    CHECK_EQUAL(access("../out", F_OK), -1);
    write_bytes("../out", "x", 1);
    CHECK_EQUAL(rex_output_reopen_same(&output), REX_OUTPUT_REPLACED);
    CHECK_EQUAL(output.descriptor, -1);
    CHECK_EQUAL(fcntl(number, F_GETFD, 0), -1);
    CHECK_EQUAL(next_descriptor(), next);
    CHECK_EQUAL(remove("../out"), 0);
    CHECK_EQUAL(rex_output_reopen(&output), 0);
    CHECK_EQUAL(access("../out", F_OK), 0);
    CHECK_EQUAL(rex_output_close(&output), 0);
    /* An absolute path, and one that is too long to become one. */
    CHECK_EQUAL(rex_output_open(&output, path), 0);
    CHECK(strcmp(output.path, path) == 0);
    CHECK_EQUAL(rex_output_close(&output), 0);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK_EQUAL(rex_output_open(&output, path), ENAMETOOLONG);
    CHECK(strcmp(output.path, path) == 0);
}

static void pipes(const void *context)
{
    (void)context;
    CHECK_EQUAL(mkfifo("pipe", 0600), 0);
    CHECK_EQUAL(rex_output_open(&output, "pipe"), REX_OUTPUT_UNREAD);
    CHECK_EQUAL(output.descriptor, -1);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    CHECK_EQUAL(rex_output_open(&output, "pipe"), 0);
    CHECK_EQUAL(fcntl(output.descriptor, F_GETFL, 0) & O_NONBLOCK, 0);
    close(output.descriptor);
    close(reader);
    CHECK_EQUAL(rex_output_reopen_same(&output), REX_OUTPUT_UNREAD);
    CHECK_EQUAL(rex_output_open(&output, "missing/out"), ENOENT);
    CHECK_MENTIONS(rex_output_why(REX_OUTPUT_UNREAD), "nobody reads from this pipe");
    CHECK(strcmp(rex_output_why(EPIPE), "nobody reads from this pipe any more") == 0);
    CHECK(strcmp(rex_output_why(REX_OUTPUT_REPLACED), "the program has closed it, and it is another file now") == 0);
    CHECK(strcmp(rex_output_why(ENOSPC), "No space left on device") == 0);
}

/* What cannot be told of a descriptor is no sign that it is another's. */
static void doubts(const void *context)
{
    static const char *const calls[] = {"fstat", "F_GETFL"};
    (void)context;
    int next = next_descriptor();
    fail_next("F_GETFL", EIO);
    CHECK_EQUAL(rex_output_open(&output, "out"), 0);
    CHECK_EQUAL(fcntl(output.descriptor, F_GETFL, 0) & (O_NONBLOCK | O_APPEND | O_ACCMODE), O_NONBLOCK | O_APPEND | O_WRONLY);
    for (size_t i = 0; i < COUNT(calls); i++) {
        int number = output.descriptor;
        fail_next(calls[i], EIO);
        CHECK(rex_output_is_open(&output));
        CHECK_EQUAL(output.descriptor, number);
        fail_next(calls[i], EBADF);
        CHECK(!rex_output_is_open(&output));
        CHECK_EQUAL(output.descriptor, -1);
        output.descriptor = number;
    }
    int number = output.descriptor;
    CHECK_EQUAL(rex_output_close(&output), 0);
    fail_next("fstat", EIO);
    CHECK_EQUAL(rex_output_open(&output, "out"), EIO);
    CHECK_EQUAL(output.descriptor, -1);
    CHECK_EQUAL(fcntl(number, F_GETFD, 0), -1);
    CHECK_EQUAL(next_descriptor(), next);
}

/* A signal comes in between, the disk breaks, and a write that does nothing. */
static void interruptions(const void *context)
{
    char why[128];
    size_t done;
    struct rex_bytes file;
    (void)context;
    int fd = open("five", O_RDWR | O_CREAT, 0600);
    fail_next("write", EINTR);
    CHECK_EQUAL(rex_file_write(fd, "12345", 5, &done), 0);
    CHECK_EQUAL(done, 5);
    fail_next("write", 0);
    CHECK_EQUAL(rex_file_write(fd, "6", 1, &done), EIO);
    CHECK_EQUAL(done, 0);
    fail_next("write", ENOSPC);
    CHECK_EQUAL(rex_file_write(fd, "6", 1, &done), ENOSPC);
    fail_next("read", EINTR);
    CHECK_EQUAL(rex_file_read("five", &file, why, sizeof why), 0);
    CHECK(file.size == 5 && memcmp(file.bytes, "12345", 5) == 0);
    free(file.bytes);
    fail_next("read", EIO);
    refused("five", NULL, "read: Input/output error", EIO);
}

TEST(test_output)
{
    in_folder(doubts);
    in_folder(interruptions);
    in_folder(high_numbers);
    in_folder(other_files);
    in_folder(again);
    in_folder(pipes);
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, last = PTHREAD_MUTEX_INITIALIZER, silent = PTHREAD_MUTEX_INITIALIZER;
static char steps[16];

/* WHAT happens while those locks are held that are in HELD. */
static void step(char what, const char *held)
{
    pthread_mutex_t *all[] = {&first, &last, &silent};
    strncat(steps, &what, 1);
    for (size_t i = 0; i < COUNT(all); i++) {
        bool is_free = pthread_mutex_trylock(all[i]) == 0;
        if (is_free)
            pthread_mutex_unlock(all[i]);
        CHECK_EQUAL(is_free, strchr(held, "fls"[i]) == NULL);
    }
}

static void renewed_zero(void)
{
    step('0', "fls");
}
static void renewed_one(void)
{
    step('1', "fls");
}
static void of_first(void)
{
    step('f', "f");
}
static void of_last(void)
{
    step('l', "fls");
}
static void look(void)
{
    step('L', "fls");
}
static void go_on(void)
{
    step('G', "fls");
}

TEST_IN_CHILD(forks)
{
    static const struct rex_fork_handler zero = {NULL, renewed_zero}, one = {NULL, renewed_one}, of_lock = {&first, of_first},
                                         of_silent = {&silent, NULL}, of_last_lock = {&last, of_last};
    int status;
    unsigned before = rex_forks();
    CHECK(rex_fork_is_watched());
    rex_fork_register(REX_FORK_RANKS - 1, &of_last_lock);
    rex_fork_register(0, &zero);
    rex_fork_register(1, &one);
    rex_fork_register(97, &of_lock);
    rex_fork_register(98, &of_silent);
    rex_fork_look(look, go_on);
    pid_t child = fork();
    if (child == 0) {
        step('.', "");
        CHECK(strcmp(steps, "L01lf.") == 0);
        CHECK_EQUAL(rex_forks(), before + 1);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    step('.', "");
    CHECK(strcmp(steps, "LG.") == 0);
    CHECK_EQUAL(rex_forks(), before);
}

/* ---- how the program is linked ------------------------------------------------------------------------------------------------- */

static struct dl_phdr_info program, another;
typedef int a_look(struct dl_phdr_info *object, size_t size, void *context);
int __wrap_dl_iterate_phdr(a_look *look_at, void *context);
int __wrap_dl_iterate_phdr(a_look *look_at, void *context)
{
    int result = look_at(&program, sizeof program, context);
    return result != 0 ? result : look_at(&another, sizeof another, context);
}

/* Libraries can be opened where the program names a loader, or has no C library in it, as one that tests run in. */
TEST(test_linking)
{
    struct rex_gpu gpu;
    uintptr_t library = (uintptr_t)&__wrap_dl_iterate_phdr; /* which stands for the C library's */
    ElfW(Phdr) parts[] = {{.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = 0x100},
                          {.p_type = PT_LOAD, .p_vaddr = 0x2000, .p_memsz = 0x100},
                          {.p_type = PT_NOTE, .p_vaddr = 0x2000, .p_memsz = 0x100}};
    ElfW(Phdr) loader = {.p_type = PT_INTERP};
    another = (struct dl_phdr_info){.dlpi_phdr = &loader, .dlpi_phnum = 1};
    program = (struct dl_phdr_info){.dlpi_phdr = parts, .dlpi_phnum = COUNT(parts)};
    static const struct {
        uintptr_t at; /* of the library, from the program's beginning */
        bool static_program;
    } cases[] = {{0xfff, false},  {0x1000, true}, {0x10ff, true}, {0x1100, false},
                 {0x1fff, false}, {0x2000, true}, {0x20ff, true}, {0x2100, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        program.dlpi_addr = library - cases[i].at;
        assert_int_equal(rex_can_open_libraries(), !cases[i].static_program);
    }
    program.dlpi_addr = library - 0x2000;
    assert_int_equal(rex_runtime_bind(), REX_ENORUNTIME);
    assert_non_null(strstr(rex_last_error(), "the program was linked with -static or -static-pie, and libomptarget cannot be loaded into it"));
    assert_int_equal(rex_gpu_count(), 0);
    assert_int_equal(rex_gpu_get(&gpu, sizeof gpu, 0), REX_EDEVICE);
    assert_non_null(strstr(rex_last_error(), "the CUDA driver cannot be opened by a program that was linked with -static or -static-pie"));
    program.dlpi_phnum = 1;
    assert_true(rex_can_open_libraries());
    program.dlpi_phnum = 2;
    parts[0] = loader;
    assert_true(rex_can_open_libraries());
    parts[0].p_type = parts[1].p_type = PT_NOTE;
    assert_true(rex_can_open_libraries());
}
