/*
 * torture.c - runs scenarios again and again, each time with another call of librex's failing. tests/torture/run says how to start it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { SCENARIOS = 64, JOBS = 64 };

/* ---- what is to be done ------------------------------------------------------------------------------------------------------------- */

static struct baseline baselines[SCENARIOS];
static struct {
    int calls, failures, reached, findings;
} rows[SCENARIOS];

static struct task {
    size_t scenario;
    char plan[PLAN_MAX];
} *tasks;
static size_t task_count;

static void add_task(size_t scenario, int call, int number, bool lasts, int code)
{
    struct task *grown = realloc(tasks, (task_count + 1) * sizeof *grown);
    if (grown == NULL)
        abort();
    tasks = grown;
    struct task *task = &tasks[task_count++];
    task->scenario = scenario;
    snprintf(task->plan, sizeof task->plan, "%s:%d:%s:%s", torture_calls[call].name, number, lasts ? "lasting" : "once",
             torture_word(torture_calls[call].kind, code));
}

/* Each call with each code, alone; and with the first and a lost device for good. */
static void add_tasks(size_t scenario)
{
    for (size_t i = 0; i < torture_call_count; i++) {
        const struct call *call = &torture_calls[i];
        for (int number = 1; number <= baselines[scenario].counts[i]; number++)
            for (int c = 0; c < CODES_MAX && call->codes[c] != 0; c++) {
                bool is_lost = call->kind == KIND_DRIVER && call->codes[c] == 700;
                add_task(scenario, (int)i, number, false, call->codes[c]);
                if (c == 0 || is_lost)
                    add_task(scenario, (int)i, number, true, call->codes[c]);
            }
        rows[scenario].calls += baselines[scenario].counts[i];
    }
}

/* At most MOST, the same ones every time. */
static void thin_out(size_t most)
{
    if (most == 0 || task_count <= most)
        return;
    for (size_t i = 0; i < most; i++)
        tasks[i] = tasks[i * task_count / most];
    task_count = most;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------------ */

static char folder[JOBS][512];

static void make_folders(int jobs)
{
    const char *parent = getenv("TMPDIR");
    for (int i = 0; i < jobs; i++) {
        snprintf(folder[i], sizeof folder[i], "%s/torture.XXXXXX", parent != NULL ? parent : "/tmp");
        if (mkdtemp(folder[i]) == NULL) {
            perror(folder[i]);
            exit(2);
        }
    }
}

static void remove_folders(int jobs)
{
    for (int i = 0; i < jobs; i++) {
        run_empty(folder[i]);
        if (rmdir(folder[i]) != 0)
            perror(folder[i]);
    }
}

static struct run runs[JOBS];
static size_t running[JOBS]; /* the task of each, plus 1; 0: none */

static int job_of(pid_t process)
{
    int job = 0;
    while (running[job] == 0 || runs[job].process != process)
        job++;
    return job;
}

static void start(int job, size_t task)
{
    runs[job] = (struct run){.scenario = &torture_scenarios[tasks[task].scenario]};
    memcpy(runs[job].plan, tasks[task].plan, PLAN_MAX);
    running[job] = task + 1;
    run_start(&runs[job], folder[job]);
}

/* Waits for one; its job. */
static int finish(void)
{
    int status;
    pid_t process = wait(&status);
    int job = job_of(process);
    size_t scenario = tasks[running[job] - 1].scenario;
    bool reached;
    runs[job].status = status;
    rows[scenario].findings += run_judge(&runs[job], &baselines[scenario], folder[job], &reached) > 0;
    rows[scenario].failures++;
    rows[scenario].reached += reached;
    run_close(&runs[job]);
    running[job] = 0;
    return job;
}

static void show(size_t done)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < task_count ? "\r%zu of %zu" : "\r                    \r", done, task_count);
}

static void run_tasks(int jobs)
{
    size_t next = 0, done = 0;
    for (int job = 0; job < jobs && next < task_count; job++)
        start(job, next++);
    while (done < task_count) {
        int job = finish();
        show(++done);
        if (next < task_count)
            start(job, next++);
    }
}

/* ---- what a run without a failure does ---------------------------------------------------------------------------------------------- */

static int run_alone(size_t scenario, const char *plan, const struct baseline *baseline, struct baseline *made)
{
    struct run run = {.scenario = &torture_scenarios[scenario]};
    bool reached;
    snprintf(run.plan, sizeof run.plan, "%s", plan);
    run_whole(&run, folder[0]);
    int found = run_judge(&run, baseline, folder[0], &reached);
    if (made != NULL) {
        char *told = run_told(&run);
        baseline_read(made, told);
        free(told);
    } else
        printf("%s\n%s", run_written(&run), reached ? "" : "the call that was to fail did not come\n");
    run_close(&run);
    return found;
}

static bool is_wanted(const struct scenario *scenario, const char *pattern)
{
    char device[16];
    snprintf(device, sizeof device, "%s ", getenv("TORTURE_DEVICE"));
    return strstr(scenario->devices, device) != NULL && (pattern == NULL || fnmatch(pattern, scenario->name, 0) == 0);
}

/* ---- all -------------------------------------------------------------------------------------------------------------------------- */

static int print_table(const char *pattern)
{
    int findings = 0;
    for (size_t i = 0; i < torture_scenario_count; i++) {
        if (!is_wanted(&torture_scenarios[i], pattern))
            continue;
        printf("%-10s %-10s %6d calls %7d failures %7d reached %5d findings\n", getenv("TORTURE_ON"), torture_scenarios[i].name,
               rows[i].calls, rows[i].failures, rows[i].reached, rows[i].findings);
        findings += rows[i].findings;
    }
    return findings;
}

static int run_all(const char *pattern, size_t most, int jobs)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (is_wanted(&torture_scenarios[i], pattern)) {
            rows[i].findings += run_alone(i, "", NULL, &baselines[i]) > 0;
            add_tasks(i);
        }
    thin_out(most);
    run_tasks(jobs);
    return print_table(pattern);
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

static int run_one(const char *name, const char *plan)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (strcmp(torture_scenarios[i].name, name) == 0) {
            int found = run_alone(i, "", NULL, &baselines[i]);
            return strcmp(plan, "-") == 0 ? found : found + run_alone(i, plan, &baselines[i], NULL);
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

/* --play SCENARIO, --one SCENARIO PLAN, or --all PATTERN MOST JOBS */
int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--play") == 0)
        return play(argv[2]);
    int jobs = argc == 5 ? atoi(argv[4]) : 1, found;
    jobs = jobs < 1 ? 1 : jobs < JOBS ? jobs : JOBS;
    make_folders(jobs);
    if (argc == 5 && strcmp(argv[1], "--all") == 0)
        found = run_all(argv[2], strtoul(argv[3], NULL, 10), jobs);
    else
        found = argc == 4 && strcmp(argv[1], "--one") == 0 ? run_one(argv[2], argv[3]) : 1;
    remove_folders(jobs);
    return found > 0;
}
