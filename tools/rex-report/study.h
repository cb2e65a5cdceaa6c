/*
 * study.h - all that a report says, gathered while a trace is read once.
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
    char *program; /* NULL: the trace does not say */
    uint64_t process, events;
    uint64_t strange; /* lines that are no events of librex's */
    struct findings findings;
    struct timeline timeline;
    struct totals totals;
};

/*
 * Read the trace that comes from FILE. The memory needed does not grow with its length. false: it
 * is none; WHY says so, and there is nothing to end.
 */
bool study_trace(struct study *study, FILE *file, const char **why);

void study_end(struct study *study);

#endif
