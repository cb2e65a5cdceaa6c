/*
 * tracesum.h - the summary of a trace. Not locked: trace.c does that.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRACESUM_H
#define REX_INTERNAL_TRACESUM_H

#include "trace/trace.h"

void rex_summary_add(const struct rex_slice *slice);

/* The table, on standard error; nothing where nothing was added. */
void rex_summary_print(void);

void rex_summary_forget(void);

#endif
