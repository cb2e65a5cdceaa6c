/*
 * torture.c - runs scenarios again and again, each time with another call of librex's failing. tests/torture/run says how to start it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

enum { SCENARIOS = 64 };

static struct baseline baselines[SCENARIOS];
static struct {
    int calls, failures, reached, findings;
} rows[SCENARIOS];

/* ---- what comes of them ------------------------------------------------------------------------------------------------------------- */

static void judge(struct job *job, bool *reached)
{
    rows[job->scenario].findings += run_judge(&job->run, job->is_again ? &job->again : NULL, reached) > 0;
}

static void end_failure(struct job *job)
{
    bool reached;
    judge(job, &reached);
    rows[job->scenario].failures++;
    rows[job->scenario].reached += reached;
}

/* What a run without a failure counts and holds. */
static void end_baseline(struct job *job)
{
    bool reached;
    char *told = run_told(&job->run);
    judge(job, &reached);
    baseline_read(&baselines[job->scenario], told);
    free(told);
}

static int findings(void)
{
    int count = 0;
    for (size_t i = 0; i < torture_scenario_count; i++)
        count += rows[i].findings;
    return count;
}

/* ---- many of them ------------------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* On a terminal each, elsewhere a line in 30 seconds. */
static void show(size_t done, size_t count)
{
    static double last;
    if (last == 0)
        last = now();
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < count ? "\r%zu of %zu" : "\r                    \r", done, count);
    else if (now() - last >= 30) {
        fprintf(stderr, "%s: %zu of %zu runs, %d findings\n", getenv("TORTURE_ON"), done, count, findings());
        last = now();
    }
}

static void start_task(struct job *job, const struct task *task)
{
    char plan[PLAN_MAX] = "";
    if (task->plan.call >= 0)
        sample_write_plan(task, plan);
    job_start(job, task->scenario, plan);
}

/* COUNT at a time. After SECONDS, 0 for never, none is begun but those that are sure; how many were not. */
static size_t run_sample(const struct sample *sample, int count, double seconds, void (*end)(struct job *))
{
    size_t next = 0, done = 0, last = sample->count;
    double begin = now();
    for (int i = 0; i < count && next < last; i++)
        start_task(&jobs[i], &sample->task[next++]);
    while (done < next) {
        struct job *job = job_wait();
        if (!job_is_done(job, &baselines[job->scenario]))
            continue;
        end(job);
        job_close(job);
        show(++done, last);
        if (seconds > 0 && now() - begin > seconds)
            last = next > sample->sure ? next : sample->sure;
        if (next < last)
            start_task(job, &sample->task[next++]);
    }
    return sample->count - done;
}

/* ---- all -------------------------------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct scenario *scenario, const char *pattern)
{
    char device[16];
    snprintf(device, sizeof device, "%s ", getenv("TORTURE_DEVICE"));
    return strstr(scenario->devices, device) != NULL && (pattern == NULL || fnmatch(pattern, scenario->name, 0) == 0);
}

static void print_table(const char *pattern)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (is_wanted(&torture_scenarios[i], pattern))
            printf("%-10s %-10s %6d calls %7d failures %7d reached %5d findings\n", getenv("TORTURE_ON"), torture_scenarios[i].name,
                   rows[i].calls, rows[i].failures, rows[i].reached, rows[i].findings);
}

static void measure(const char *pattern, int count)
{
    struct sample without = {0};
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (is_wanted(&torture_scenarios[i], pattern))
            sample_add_none(&without, i);
    run_sample(&without, count, 0, end_baseline);
    free(without.task);
}

static int run_all(const char *pattern, size_t most, int count, double seconds)
{
    struct sample sample = {0};
    measure(pattern, count);
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (is_wanted(&torture_scenarios[i], pattern)) {
            sample_add(&sample, i, baselines[i].counts);
            for (size_t call = 0; call < torture_call_count; call++)
                rows[i].calls += baselines[i].counts[call];
        }
    if (most > 0)
        sample_thin_out(&sample, most);
    size_t left = run_sample(&sample, count, seconds, end_failure);
    print_table(pattern);
    if (left > 0)
        printf("%s: %zu of %zu failures were not tried, as %g seconds were over\n", getenv("TORTURE_ON"), left, sample.count, seconds);
    free(sample.task);
    return findings();
}

static int play(const char *name)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (strcmp(torture_scenarios[i].name, name) == 0) {
            torture_play(&torture_scenarios[i]);
            return 0;
        }
    return 2;
}

static void run_alone(size_t scenario, const char *plan)
{
    bool reached;
    job_start(jobs, scenario, plan);
    while (!job_is_done(job_wait(), &baselines[scenario]))
        ;
    judge(jobs, &reached);
    printf("%s\n%s", run_written(&jobs->run), reached ? "" : "the call that was to fail did not come\n");
    job_close(jobs);
}

static int run_one(const char *name, const char *plan)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (strcmp(torture_scenarios[i].name, name) == 0) {
            measure(name, 1);
            if (strcmp(plan, "-") != 0)
                run_alone(i, plan);
            return findings();
        }
    return 1;
}

/* Behind librex's own destructors: what they free is free, and what they call has been counted. */
__attribute__((destructor(101))) static void tell_end(void)
{
    if (getenv("TORTURE_TELL") == NULL)
        return;
    torture_tell_held();
    torture_tell("end");
}

/* --play SCENARIO, --one SCENARIO PLAN, or --all PATTERN MOST JOBS SECONDS */
int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--play") == 0)
        return play(argv[2]);
    bool is_all = argc == 6 && strcmp(argv[1], "--all") == 0;
    int count = is_all ? atoi(argv[4]) : 1, found = 1;
    count = count < 1 ? 1 : count < JOBS ? count : JOBS;
    job_make_folders(count);
    if (is_all)
        found = run_all(argv[2], strtoul(argv[3], NULL, 10), count, atof(argv[5]));
    else if (argc == 4 && strcmp(argv[1], "--one") == 0)
        found = run_one(argv[2], argv[3]);
    job_remove_folders(count);
    return found > 0;
}
