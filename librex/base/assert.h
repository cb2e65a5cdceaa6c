/*
 * assert.h - invariants that test builds check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ASSERT_H
#define REX_INTERNAL_ASSERT_H

/*
 * If CONDITION is false, writes the file and the line to standard error, and aborts the program.
 * The Makefile defines REX_ASSERTS for sanitizer builds, the unit tests and tests/walk. Without
 * REX_ASSERTS the compiler checks CONDITION, but the program never evaluates CONDITION.
 */
#ifdef REX_ASSERTS
#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void rex_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "librex: %s:%d: REX_ASSERT(%s) does not hold\n", file, line, condition);
    abort();
}
#define REX_ASSERT(condition) \
    ((condition) ? (void)0 : rex_assert_failed(__FILE__, __LINE__, #condition))
#else
#define REX_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif
