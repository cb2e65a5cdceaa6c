/*
 * messages.h - errors and other texts, compared with a golden file:
 * tests/golden/messages/HEADER.txt, one for each public header.
 *
 * A program says MESSAGES("queue") once. Each test of it that says() something has a part in the
 * file, and the part has to be the same at the test's end; UPDATE=1 in the environment writes it
 * anew: read the difference. Children of fork write into the same part.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_SUPPORT_MESSAGES_H
#define REX_TESTS_SUPPORT_MESSAGES_H

#include "rex/error.h"

struct messages {
    const char *header, *build; /* the public header, without rex/; the build directory, which is
                                   BUILD in the file */
};
extern const struct messages messages;
#define MESSAGES(header) const struct messages messages = {header, TEST_BUILD}

/* A line of the test's part. Addresses and temporary folders have one name whatever they are; NULL
 * is "(null)". */
void says(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* RESULT has to be an error, and the last one: a line with its name and its message, behind WHAT,
 * which is a format. */
void refuses(int result, const char *what, ...) __attribute__((__format__(__printf__, 2, 3)));

/* The call returns an error; or NULL and leaves one. Its line begins with the call's own text. */
#define REFUSED(call) refuses((call), "%s", #call)
#define NO_RESULT(call) refuses((call) == NULL ? rex_last_error_code() : REX_OK, "%s", #call)

#endif
