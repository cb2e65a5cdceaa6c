/*
 * advice.h - advice that makes a program faster, in sentences with numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_ADVICE_H
#define REX_REPORT_ADVICE_H

#include "findings.h"

#define MOST_ADVICE (MOST_REPEATS + MOST_REASONS + 8)

/*
 * One piece of advice: one or more sentences, and the maximum number of nanoseconds that the advice
 * can save.
 */
struct advice {
    char *text;
    uint64_t saves;
};

/*
 * Writes the advice from FINDINGS to LIST: mistakes first, then the largest savings. Returns the
 * number of elements written. The caller frees the texts.
 */
size_t advise(const struct findings *findings, struct advice list[MOST_ADVICE]);

#endif
