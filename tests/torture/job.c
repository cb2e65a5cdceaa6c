/*
 * job.c - runs in processes of their own, several at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct job jobs[JOBS];

void job_make_folders(int count)
{
    const char *parent = getenv("TMPDIR");
    for (int i = 0; i < count; i++) {
        snprintf(jobs[i].folder, sizeof jobs[i].folder, "%s/torture.XXXXXX", parent != NULL ? parent : "/tmp");
        if (mkdtemp(jobs[i].folder) == NULL) {
            perror(jobs[i].folder);
            exit(2);
        }
    }
}

void job_remove_folders(int count)
{
    for (int i = 0; i < count; i++) {
        run_empty(jobs[i].folder);
        if (rmdir(jobs[i].folder) != 0)
            perror(jobs[i].folder);
    }
}

void job_start(struct job *job, size_t scenario, const char *plan)
{
    job->scenario = scenario;
    job->is_busy = true;
    job->is_again = false;
    job->run = (struct run){.scenario = &torture_scenarios[scenario]};
    snprintf(job->run.plan, sizeof job->run.plan, "%s", plan);
    run_start(&job->run, job->folder);
}

static pid_t process_of(const struct job *job)
{
    return !job->is_busy ? 0 : job->is_again ? job->again.process : job->run.process;
}

struct job *job_wait(void)
{
    int status;
    pid_t process = wait(&status);
    struct job *job = jobs;
    if (process < 0) {
        perror("torture");
        exit(2);
    }
    while (process_of(job) != process)
        job++;
    *(job->is_again ? &job->again.status : &job->run.status) = status;
    return job;
}

bool job_is_done(struct job *job, const struct baseline *baseline)
{
    bool fails = job->run.plan[0] != '\0';
    if (!fails || job->is_again || !run_is_suspect(&job->run, baseline))
        return true;
    job->is_again = true;
    run_start_again(&job->run, &job->again, job->folder);
    return false;
}

void job_close(struct job *job)
{
    if (job->is_again)
        run_close(&job->again);
    run_close(&job->run);
    job->is_busy = false;
}
