/*
 * test.h - registers tests: the main() of main.c runs each TEST(name) { ... } in any file of a program.
 *
 * A program that includes runtime/runtime.h runs each test in a separate process. A program takes names of tests as arguments, and then runs
 * only these tests. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_SUPPORT_TEST_H
#define REX_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Places in which a test can run. The fake GPU (tests/fake) counts as a GPU, but not as a real GPU. */
enum test_place { ANYWHERE, ON_GPU, ON_REAL_GPU, ON_HOST_DEVICE };

struct test {
    const char *name;
    enum test_place gpu;
    const char *on; /* releases of LLVM, separated by blanks; NULL: any release */
    void (*run)(void **state);
    int (*set_up)(void **state), (*tear_down)(void **state); /* may be NULL */
};

/* gcc reverses the order of variables without the attribute. clang keeps the order and has no such attribute. */
#if __has_attribute(__no_reorder__)
#define IN_ORDER __no_reorder__,
#else
#define IN_ORDER
#endif

/* All releases except 18, which loads no image that is registered after the first use of a device. */
#define LOADS_LATE "14 15 16 17 19 21 22 23 24"

/* The head of a test, before its body: TEST(name), or TEST(name, .set_up = f, .tear_down = g, .on = "19 21", .gpu = ON_GPU). */
#define TEST(...) TEST_NAMED(__VA_ARGS__, )
#define TEST_NAMED(test_name, ...)                                                                                              \
    static void test_name(void **state);                                                                                        \
    static const struct test test_name##_test = {.name = #test_name, .run = test_name, __VA_ARGS__};                            \
    static const struct test *const test_name##_listed __attribute__((IN_ORDER __used__, __section__("rex_tests"))) = &test_name##_test; \
    static void test_name(void **test_state __attribute__((__unused__)))

/* main() calls this function first, if the program defines it. It returns -1 to run the tests, or the exit status: 77 after "skip: REASON". */
int before_tests(int argc, char **argv) __attribute__((__weak__));

/* Runs a test in a separate process, if the program defines it (runtime/runtime.h). Returns the wait status. */
int run_test_apart(const char *name) __attribute__((__weak__));

/* Called after each test, if the program defines it (messages.h). HAS_ENDED: the test's body has ended. */
void check_messages(const char *test, bool has_ended) __attribute__((__weak__));

/* Returns the reason to skip a test, or NULL, if the program defines it (runtime/runtime.h). */
const char *why_not_here(const struct test *test) __attribute__((__weak__));

/* Runs all tests in this process, for a program with its own main(). Returns 0 if no test failed. */
int run_all_tests(void);

/* All tests, in the order of the linker. run_tests_of() runs the test NAME, or all if NAME is NULL; returns 0 if a test ran and no test failed. */
extern const struct test *const __start_rex_tests[], *const __stop_rex_tests[];
#define TESTS ((size_t)(__stop_rex_tests - __start_rex_tests))
int run_tests_of(const char *name);

#endif
