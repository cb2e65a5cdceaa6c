/*
 * advice.h - what would make a program faster, in sentences with the numbers behind them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_ADVICE_H
#define REX_REPORT_ADVICE_H

#include "findings.h"

#define MOST_ADVICE (MOST_REPEATS + MOST_REASONS + 8)

/* One sentence or more, and what doing so would save at most, in nanoseconds. */
struct advice {
    char *text;
    uint64_t saves;
};

/*
 * Writes the advice that FINDINGS give to LIST, mistakes first and then the largest savings;
 * returns its number. The caller frees the texts.
 */
size_t advise(const struct findings *findings, struct advice list[MOST_ADVICE]);

#endif
