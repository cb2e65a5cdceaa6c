/*
 * messages.h - errors and other texts, compared with a golden file:
 * tests/golden/messages/HEADER.txt, one for each public header.
 *
 * A program has MESSAGES("queue") once. Each of its tests that calls says() has a part in the file,
 * and fails at its end if the part differs. UPDATE=1 in the environment writes the part: then read
 * the difference. Child processes write into the test's part.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_SUPPORT_MESSAGES_H
#define REX_TESTS_SUPPORT_MESSAGES_H

#include "rex/error.h"

struct messages {
    const char *header, *build; /* the public header, without rex/; the build folder, BUILD in the
                                   file */
};
extern const struct messages messages;
#define MESSAGES(header) const struct messages messages = {header, TEST_BUILD}

/* Writes a line of the test's part. ADDRESS, FOLDER and PROGRAM stand for addresses, temporary
 * folders and the path of the test's program, "(null)" for NULL. */
void says(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Writes a line: WHAT, which is a format, then name and message of RESULT. RESULT must be an error,
 * and the last error. */
void refuses(int result, const char *what, ...) __attribute__((__format__(__printf__, 2, 3)));

/* Take a call that returns an error, or NULL. The line begins with the source text of the call. */
#define REFUSED(call) refuses((call), "%s", #call)
#define NO_RESULT(call) refuses((call) == NULL ? rex_last_error_code() : REX_OK, "%s", #call)

#endif
