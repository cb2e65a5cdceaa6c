/* test.c - runs the tests of a program: test.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/test.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static const struct test *running;
static bool has_ended; /* the test's body has ended: it was neither skipped nor stopped */

static int set_up(void **state)
{
    running = *state;
    *state = NULL;
    has_ended = false;
    return running->set_up != NULL ? running->set_up(state) : 0;
}

/* Runs a test, or prints "left out: ...", a line that tests/run counts. */
static void run(void **state)
{
    const char *reason = why_not_here != NULL ? why_not_here(running) : NULL;
    if (reason != NULL) {
        printf("left out: %s: %s\n", running->name, reason);
        skip();
    }
    running->run(state);
    has_ended = true;
}

static int tear_down(void **state)
{
    int result = running->tear_down != NULL ? running->tear_down(state) : 0;
    if (check_messages != NULL)
        check_messages(running->name, has_ended);
    return result;
}

int run_tests_of(const char *name)
{
    struct CMUnitTest *tests = calloc(TESTS, sizeof *tests);
    if (tests == NULL)
        return 1;
    const char *group = name != NULL ? name : "tests";
    size_t count = 0;
    for (size_t i = 0; i < TESTS; i++) {
        const struct test *test = __start_rex_tests[i];
        if (name == NULL || fnmatch(name, test->name, 0) == 0)
            tests[count++] = (struct CMUnitTest){test->name, run, set_up, tear_down, (void *)(uintptr_t)test};
    }
    if (count == 0)
        fprintf(stderr, "%s: no such test\n", group);
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    free(tests);
    return failed != 0 || count == 0;
}

int run_all_tests(void)
{
    return run_tests_of(NULL);
}
