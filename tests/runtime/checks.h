/* checks.h - what a call of librex comes to. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_CHECKS_H
#define REX_TESTS_CHECKS_H

#define OK(call) assert_int_equal((call), REX_OK)
#define FAILS(call, error, words)                                                                                      \
    do {                                                                                                               \
        assert_int_equal((call), (error));                                                                             \
        assert_int_equal(rex_last_error_code(), (error));                                                              \
        assert_non_null(strstr(rex_last_error(), (words)));                                                            \
    } while (0)

#endif
