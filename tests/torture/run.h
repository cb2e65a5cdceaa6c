/*
 * run.h - a scenario in a process of its own, and what is wrong with it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TORTURE_RUN_H
#define REX_TORTURE_RUN_H

#include "torture.h"

/* What the runs of this process share: a folder, a report, and what they write. */
void run_open(void);
void run_close(void);

/*
 * Runs SCENARIO with PLAN, of which BEFORE is the report without a failure, or NULL where nothing
 * fails; and once more, with its call failing more often, where it holds more in the end: so a leak
 * is told from a note that is kept. Prints what is wrong, and is how many findings that are; REPORT
 * becomes the run's.
 */
int run_try(const struct scenario *scenario, const struct plan *plan, const struct report *before,
            struct report *report);

/* What the last run of this process has written, to be freed. */
char *run_written(void);

#endif
