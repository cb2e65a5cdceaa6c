/*
 * sourcecheck.h - check generated sources, host and device, before they are compiled.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SOURCECHECK_H
#define CHECK_SOURCECHECK_H

#include <stddef.h>

#include "report.h"
#include "sourcetext.h"

/* Check TEXTS, which are called PATHS; or the files at PATHS: 0, or -1 with the reason in WHY. */
void check_texts(const char *const *paths, const struct source_text *texts, size_t count,
                 struct report *report);
int check_source(const char *const *paths, size_t count, struct report *report, char why[256]);

#endif
