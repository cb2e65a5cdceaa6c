/*
 * study.h - reads a trace once, and collects all data of a report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_STUDY_H
#define REX_REPORT_STUDY_H

#include <stdio.h>

#include "findings.h"
#include "timeline.h"
#include "totals.h"

struct study {
    char *program; /* NULL: not in the trace */
    uint64_t process, events;
    uint64_t strange; /* lines that are not events of librex */
    struct findings findings;
    struct timeline timeline;
    struct totals totals;
};

/*
 * Reads a trace from FILE, in memory that does not grow with the trace. Returns false if FILE is
 * not a trace: *WHY becomes the reason, and study_end() is not needed.
 */
bool study_trace(struct study *study, FILE *file, const char **why);

void study_end(struct study *study);

#endif
