/* job.h - runs in processes of their own, several at a time. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_JOB_H
#define REX_TORTURE_JOB_H

#include "run.h"

enum { JOBS = 64 };

extern struct job {
    char folder[512];
    bool is_busy, is_again;
    size_t scenario;
    struct run run, again; /* the same failure, and what it leaves behind where it comes more often */
} jobs[JOBS];

/* Of the first COUNT. */
void job_make_folders(int count);
void job_remove_folders(int count);

/* PLAN: "" where nothing fails. */
void job_start(struct job *job, size_t scenario, const char *plan);

/* Waits for a process of any. */
struct job *job_wait(void);

/* Whether JOB, a process of which has ended, is done; if not, another has been started. */
bool job_is_done(struct job *job, const struct baseline *baseline);

void job_close(struct job *job);

#endif
