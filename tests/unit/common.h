/* common.h - what the unit tests share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_UNIT_COMMON_H
#define REX_TESTS_UNIT_COMMON_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

/* TEST_BUILD, the build directory, comes from rules.mk. Tests run in the top directory, as tests/run starts them. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * ---- Children: librex binds once in a process, so most of what it does at that time needs a process of its own ------
 */

/* In a child: stop with the condition that does not hold. cmocka's own assertions belong to the parent. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(one, other)                                                                                        \
    do {                                                                                                               \
        long long one_ = (long long)(one), other_ = (long long)(other);                                                \
        if (one_ != other_) {                                                                                          \
            fprintf(stderr, "%s:%d: %s is %lld (0x%llx), and not %s, %lld (0x%llx)\n", __FILE__, __LINE__, #one, one_, \
                    (unsigned long long)one_, #other, other_, (unsigned long long)other_);                             \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

#define CHECK_MENTIONS(text, part)                                                                                     \
    do {                                                                                                               \
        const char *text_ = (text), *part_ = (part);                                                                   \
        if (strstr(text_, part_) == NULL) {                                                                            \
            fprintf(stderr, "%s:%d: no \"%s\" in \"%s\"\n", __FILE__, __LINE__, part_, text_);                         \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

/* In a child of fork, after which this process goes on. */
#define CHECK_IN_FORK(condition)                                                                                       \
    do {                                                                                                               \
        int status_ = -1;                                                                                              \
        pid_t child_ = fork();                                                                                         \
        if (child_ == 0)                                                                                               \
            _exit(!(condition));                                                                                       \
        CHECK(waitpid(child_, &status_, 0) == child_ && status_ == 0);                                                 \
    } while (0)

struct child {
    int status; /* of exit, or 128 and the signal */
    char output[32768];
};

/*
 * With AddressSanitizer: is memory lost? It looks by itself only where a process ends by exit(). Where the process may not trace itself, as
 * after a change of user, or sees no /proc, as in another root, it cannot look.
 */
#ifdef __SANITIZE_ADDRESS__
#include <sys/prctl.h>
int __lsan_do_recoverable_leak_check(void);
static inline bool lost_memory(void)
{
    return prctl(PR_GET_DUMPABLE) == 1 && access("/proc/self/task", R_OK) == 0 && __lsan_do_recoverable_leak_check() != 0;
}
#else
static inline bool lost_memory(void)
{
    return false;
}
#endif

/* BYTES stay for the life of the process, as a program's own do: they are not lost. */
static inline void *lasting(void *bytes)
{
    static void *volatile all[64];
    static size_t count;
    assert_non_null(bytes);
    all[count++ % COUNT(all)] = bytes;
    return bytes;
}

/* Run BODY(CONTEXT) in a child with at most 60 seconds; what it wrote is in the result. */
static inline struct child run_child(void (*body)(const void *), const void *context)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
    static struct child child;
    FILE *output = tmpfile();
    assert_non_null(output);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(output), STDERR_FILENO);
        /* cmocka's own handlers would go on with the parent's tests in the child. */
        for (size_t i = 0; i < COUNT(faults); i++)
            signal(faults[i], SIG_DFL);
        alarm(60);
        body(context);
        fflush(NULL);
        _exit(lost_memory() ? 98 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    rewind(output);
    child.output[fread(child.output, 1, sizeof child.output - 1, output)] = '\0';
    fclose(output);
    return child;
}

/* The same for a child that has to succeed; its output. */
#define in_child(body, context) run_child_well(#body, body, context)
static inline const char *run_child_well(const char *name, void (*body)(const void *), const void *context)
{
    static struct child child;
    child = run_child(body, context);
    if (child.status != 0)
        fail_msg("%s: the child ended with %d:\n%s", name, child.status, child.output);
    return child.output;
}

/* TEST_IN_CHILD(name): the head of a test whose body, which follows, runs in a child. */
#define TEST_IN_CHILD(body)                \
    static void body(const void *context); \
    TEST(body##_in_child)                  \
    {                                      \
        in_child(body, NULL);              \
    }                                      \
    static void body(const void *unused_context __attribute__((__unused__)))

/* TEST_OF_EACH(name, int, size, 1, 2): the body has that variable, and runs in a child of its own for each value. */
#define TEST_OF_EACH(body, type, variable, ...)              \
    static void body(type variable);                         \
    static void body##_of(const void *value)                 \
    {                                                        \
        body(*(type const *)value);                          \
    }                                                        \
    TEST(body##_of_each)                                     \
    {                                                        \
        static type const values[] = {__VA_ARGS__};          \
        for (size_t i = 0; i < COUNT(values); i++)           \
            run_child_well(#body, body##_of, &values[i]);    \
    }                                                        \
    static void body(type variable)

/* TEST_ON_FAKES(name, 14, 19, 22), TEST_ON_FAKES(name, ALL_RELEASES): the body has the variable release. */
#define ALL_RELEASES 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
#define TEST_ON_FAKES(body, ...) TEST_OF_EACH(body, int, release, __VA_ARGS__)

/* TEST_FOR_EACH(name, given, table): the body has a pointer to an element of the table. */
#define TEST_FOR_EACH(body, element, table)                        \
    static void body(const __typeof__((table)[0]) *element);       \
    static void body##_for(const void *one)                        \
    {                                                              \
        body(one);                                                 \
    }                                                              \
    TEST(body##_for_each)                                          \
    {                                                              \
        for (size_t i = 0; i < COUNT(table); i++)                  \
            run_child_well(#body, body##_for, &(table)[i]);        \
    }                                                              \
    static void body(const __typeof__((table)[0]) *element)

/*
 * ---- Files ----------------------------------------------------------------------------------------------------------
 */

/* A new folder that only its owner may write, for the life of the test; remove it with remove_folder(). */
static inline void make_folder(char path[PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/rex-unit.XXXXXX", parent != NULL ? parent : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline void remove_folder(const char *path)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The bytes of a file, to be freed. */
static inline unsigned char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run make and start the test in the top directory", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    assert_true(end > 0);
    rewind(file);
    unsigned char *bytes = malloc((size_t)end);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)end, file), end);
    fclose(file);
    *size = (size_t)end;
    return bytes;
}

static inline void copy_file(const char *from, const char *to)
{
    size_t size;
    unsigned char *bytes = read_bytes(from, &size);
    write_bytes(to, bytes, size);
    free(bytes);
}

/* The same one again: whatever was opened since has been closed. */
static inline int lowest_descriptor(void)
{
    int descriptor = dup(STDERR_FILENO);
    close(descriptor);
    return descriptor;
}

/* How often PART occurs in TEXT. */
static inline int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* And in the text file at PATH. */
static inline int in_file(const char *path, const char *part)
{
    size_t size;
    char *text = (char *)read_bytes(path, &size);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    int count = occurrences(text, part);
    free(text);
    return count;
}

#endif
