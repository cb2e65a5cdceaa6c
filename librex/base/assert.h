/*
 * assert.h - invariants that the tests' builds check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ASSERT_H
#define REX_INTERNAL_ASSERT_H

/*
 * The program stops, with the place on standard error, if CONDITION does not hold. The Makefile
 * defines REX_ASSERTS for sanitizers and for the unit tests and the walk. In the library that is
 * installed CONDITION is compiled, and never evaluated.
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
