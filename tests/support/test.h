/*
 * test.h - tests that find themselves: TEST(name) { ... } in any file of a program is run by the main() of test.c.
 *
 * A program that includes runtime/runtime.h runs each of them in a process of its own; any takes a test's name as its argument, and runs that
 * one alone. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_SUPPORT_TEST_H
#define REX_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Where a test can run. The fake GPU (tests/fake) is a GPU, and no real one. */
enum test_place { ANYWHERE, ON_GPU, ON_REAL_GPU, ON_HOST_DEVICE };

struct test {
    const char *name;
    enum test_place gpu;
    const char *on; /* the releases of LLVM, with blanks between them; NULL: any */
    void (*run)(void **state);
    int (*set_up)(void **state), (*tear_down)(void **state); /* may be NULL */
};

/* gcc turns the order of variables round; clang keeps it, and does not know the attribute. */
#if __has_attribute(__no_reorder__)
#define IN_ORDER __no_reorder__,
#else
#define IN_ORDER
#endif

/* All but 18, which loads no image that is registered after the first use of a device. */
#define LOADS_LATE "14 15 16 17 19 21 22 23 24"

/* TEST(name), TEST(name, .set_up = f, .tear_down = g, .on = "19 21", .gpu = ON_GPU): the head of a test; its body follows. */
#define TEST(...) TEST_NAMED(__VA_ARGS__, )
#define TEST_NAMED(test_name, ...)                                                                                              \
    static void test_name(void **state);                                                                                        \
    static const struct test test_name##_test = {.name = #test_name, .run = test_name, __VA_ARGS__};                            \
    static const struct test *const test_name##_listed __attribute__((IN_ORDER __used__, __section__("rex_tests"))) = &test_name##_test; \
    static void test_name(void **test_state __attribute__((__unused__)))

/* A program may have it: called first. -1: run the tests; else the status to end with, 77 after a line "skip: REASON". */
int before_tests(int argc, char **argv) __attribute__((__weak__));

/* A program that has it (runtime/runtime.h) runs each test in a process of its own, by this function; the wait status. */
int run_test_apart(const char *name) __attribute__((__weak__));

/* A program that has it (messages.h): called after each test; HAS_ENDED: its body got to its end. */
void check_messages(const char *test, bool has_ended) __attribute__((__weak__));

/* A program that has it (runtime/runtime.h) says why a test cannot run here; NULL: it can. Such a test is skipped. */
const char *why_not_here(const struct test *test) __attribute__((__weak__));

/* For a program with a main() of its own: runs all tests in this process; 0 if none failed. */
int run_all_tests(void);

/* All tests, in the order of the linker; the one called NAME, or all for NULL. */
extern const struct test *const __start_rex_tests[], *const __stop_rex_tests[];
#define TESTS ((size_t)(__stop_rex_tests - __start_rex_tests))
int run_tests_of(const char *name);

#endif
