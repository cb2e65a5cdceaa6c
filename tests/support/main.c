/* main.c - the main() for test programs without one: test.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/test.h"

#include <stdio.h>

static int run_apart(void)
{
    size_t failed = 0;
    for (size_t i = 0; i < TESTS; i++) {
        int status = run_test_apart(__start_rex_tests[i]->name);
        if (status != 0)
            fprintf(stderr, "FAILED: %s (wait status %#x)\n", __start_rex_tests[i]->name, (unsigned)status);
        failed += status != 0;
    }
    printf("%zu tests, %zu failed\n", TESTS, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    int status = before_tests != NULL ? before_tests(argc, argv) : -1;
    if (status >= 0)
        return status;
    if (argc < 2)
        return run_test_apart != NULL ? run_apart() : run_all_tests();
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= run_tests_of(argv[i]);
    return failed;
}
