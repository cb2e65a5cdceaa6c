/* run.h - one run of a scenario in a process of its own. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_RUN_H
#define REX_TORTURE_RUN_H

#include <sys/types.h>

#include "sample.h"
#include "torture.h"

struct run {
    const struct scenario *scenario;
    char plan[PLAN_MAX]; /* "": nothing fails */
    pid_t process;
    int tell, output; /* files of the process */
    int status;       /* as of waitpid() */
    int rounds;       /* how often the call fails; 0: as planned */
};

/* Removes what is in FOLDER. */
void run_empty(const char *folder);

/* Starts it, with a FOLDER of its own, which is emptied before. */
void run_start(struct run *run, const char *folder);

/* What it told, or wrote, as a string to be freed. */
char *run_told(const struct run *run);
char *run_written(const struct run *run);
void run_close(struct run *run);

/* What a run without a failure has counted, and what librex holds at its end. */
struct baseline {
    int *counts;       /* by the places of torture_calls */
    int registrations; /* each leaves something: libomptarget may look at it for ever */
    struct held {
        char *what;
        int count;
    } *held;
    size_t held_count;
};
void baseline_read(struct baseline *baseline, const char *told);

/*
 * Whether RUN, which has ended, holds more than without a failure. Whether it leaks is seen where it is started again, as AGAIN, in which its
 * call fails more often.
 */
bool run_is_suspect(const struct run *run, const struct baseline *baseline);
void run_start_again(const struct run *run, struct run *again, const char *folder);

/*
 * Prints what is wrong with RUN, which has ended, and AGAIN, if it was started; how many findings that are. REACHED: whether the call came
 * that was to fail.
 */
int run_judge(const struct run *run, const struct run *again, bool *reached);

#endif
