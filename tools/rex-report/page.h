/*
 * page.h - writes a report as one page of HTML and SVG. The page has no script and loads no other
 * file.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_PAGE_H
#define REX_REPORT_PAGE_H

#include "study.h"

/* Writes STUDY to OUT as a page. TRACE is the name of the trace on the page. */
void page_write(FILE *out, const struct study *study, const char *trace);

#endif
