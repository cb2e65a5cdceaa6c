/* checks.h - what a call of librex comes to. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_CHECKS_H
#define REX_TESTS_CHECKS_H

#include <pthread.h>

#include "runtime/runtime.h"

#define OK(call) assert_int_equal((call), REX_OK)
#define FAILS(call, error, words)                                                                                      \
    do {                                                                                                               \
        assert_int_equal((call), (error));                                                                             \
        assert_int_equal(rex_last_error_code(), (error));                                                              \
        assert_non_null(strstr(rex_last_error(), (words)));                                                            \
    } while (0)

enum { MOST_THREADS = 16 };

/* So many threads at once, each with its number; BODY returns NULL if all is well. */
__attribute__((unused)) static void run_threads(int count, void *(*body)(void *number))
{
    pthread_t thread[MOST_THREADS];
    void *failed;
    assert_true(count <= MOST_THREADS);
    for (intptr_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < count; i++) {
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        if (failed != NULL)
            fail_msg("thread %d", i);
    }
}

#endif
