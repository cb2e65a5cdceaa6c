/*
 * report.h - makes a report of the program's trace with rex-report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_REPORT_H
#define REX_RUN_REPORT_H

/*
 * Makes the program write a trace to the file TRACE. If TRACE is NULL, the file has the name PAGE
 * with ".json" appended. report_make() makes the file PAGE from the trace. Exits if an output
 * cannot be used.
 */
void report_prepare(const char *page, const char *trace);

/*
 * Makes the page. Call this after the program has ended. If the page cannot be made, prints the
 * reason, and does not exit.
 */
void report_make(void);

#endif
