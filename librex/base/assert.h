/*
 * assert.h - invariants that test builds check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ASSERT_H
#define REX_INTERNAL_ASSERT_H

/*
 * Aborts the program if CONDITION is false, and writes file and line to standard error. The
 * Makefile defines REX_ASSERTS for sanitizer builds, the unit tests and tests/walk. The installed
 * library compiles CONDITION but never evaluates it.
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
