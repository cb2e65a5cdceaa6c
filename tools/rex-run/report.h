/*
 * report.h - the report that rex-report makes of the program's trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_REPORT_H
#define REX_RUN_REPORT_H

/*
 * Have the program write a trace, to the file TRACE or, where that is NULL, to PAGE with ".json"
 * behind it, of which report_make() makes PAGE. Exits where that cannot be.
 */
void report_prepare(const char *page, const char *trace);

/* After the program has ended. A failure is printed, and changes nothing else. */
void report_make(void);

#endif
