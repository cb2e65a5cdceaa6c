/* test.c - runs the tests of a program: test.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/test.h"

#include <stdlib.h>

int run_tests_of(const char *name)
{
    struct CMUnitTest *tests = calloc(TESTS, sizeof *tests);
    if (tests == NULL)
        return 1;
    for (size_t i = 0; i < TESTS; i++) {
        const struct test *test = __start_rex_tests[i];
        tests[i] = (struct CMUnitTest){test->name, test->run, test->set_up, test->tear_down, NULL};
    }
    if (name != NULL)
        cmocka_set_test_filter(name);
    int failed = _cmocka_run_group_tests(name != NULL ? name : "tests", tests, TESTS, NULL, NULL);
    free(tests);
    return failed != 0;
}

int run_all_tests(void)
{
    return run_tests_of(NULL);
}
