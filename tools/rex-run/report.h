/*
 * report.h - has rex-report make a report of the program's trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_REPORT_H
#define REX_RUN_REPORT_H

/*
 * Makes the program write a trace to the file TRACE, or to PAGE with ".json" appended if TRACE is
 * NULL. report_make() makes PAGE of it. Exits if an output cannot be used.
 */
void report_prepare(const char *page, const char *trace);

/* Makes the page, after the program has ended. Prints a failure, which changes nothing else. */
void report_make(void);

#endif
