/* refused.h - errors, with every word of their messages. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_UNIT_REFUSED_H
#define REX_TESTS_UNIT_REFUSED_H

#include "bound.h"

/* The call returns CODE, and its message is what the rest says, like printf. */
#define REFUSED(call, code, ...)                                                                         \
    do {                                                                                                 \
        char said_[512];                                                                                 \
        snprintf(said_, sizeof said_, __VA_ARGS__);                                                      \
        CHECK_EQUAL((call), (code));                                                                     \
        CHECK_EQUAL(rex_last_error_code(), (code));                                                      \
        if (strcmp(rex_last_error(), said_) != 0) {                                                      \
            fprintf(stderr, "%s:%d: \"%s\", not \"%s\"\n", __FILE__, __LINE__, rex_last_error(), said_); \
            _exit(99);                                                                                   \
        }                                                                                                \
    } while (0)

/* The same of one that returns NULL. */
#define NO_ADDRESS(call, code, ...) REFUSED((call) == NULL ? rex_last_error_code() : REX_OK, code, __VA_ARGS__)

#endif
