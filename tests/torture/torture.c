/*
 * torture.c - runs scenarios again and again, each time with another call of librex's failing.
 * tests/torture/run says how to start it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "torture.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "sample.h"

enum { SCENARIOS = 64, ENOUGH = 25 }; /* so many findings end it */

/* Memory of all processes. */
static struct {
    size_t next, done; /* tasks */
    struct row {
        int failures, reached, findings;
    } rows[SCENARIOS];
    struct report before[SCENARIOS]; /* without a failure */
} *common;

static int findings(void)
{
    int count = 0;
    for (size_t i = 0; i < torture_scenario_count; i++)
        count += common->rows[i].findings;
    return count;
}

/* ---- many runs ------------------------------------------------------------------------------- */

static void try(const struct task *task)
{
    bool fails = task->plan.call >= 0;
    struct row *row = &common->rows[task->scenario];
    struct report *before = &common->before[task->scenario], after;
    int found = run_try(&torture_scenarios[task->scenario], &task->plan, fails ? before : NULL,
                        fails ? &after : before);
    __atomic_add_fetch(&row->findings, found > 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&row->failures, fails, __ATOMIC_RELAXED);
    __atomic_add_fetch(&row->reached, fails && after.fired != 0, __ATOMIC_RELAXED);
}

static void work(const struct sample *sample)
{
    size_t next;
    run_open();
    while (findings() < ENOUGH &&
           (next = __atomic_fetch_add(&common->next, 1, __ATOMIC_RELAXED)) < sample->count) {
        try(&sample->task[next]);
        size_t done = __atomic_add_fetch(&common->done, 1, __ATOMIC_RELAXED);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, done < sample->count ? "\r%zu of %zu" : "\r                    \r",
                    done, sample->count);
    }
    run_close();
}

/* By COUNT processes. */
static void run_sample(const struct sample *sample, int count)
{
    int status;
    common->next = common->done = 0;
    fflush(NULL);
    for (int i = 0; i < count; i++)
        if (_Fork() == 0) {
            work(sample);
            _exit(0);
        }
    while (wait(&status) > 0)
        ;
    if (common->done < sample->count)
        printf("%s: only %zu of %zu runs were made\n", getenv("TORTURE_ON"), common->done,
               sample->count);
    if (common->done < sample->count && findings() < ENOUGH)
        exit(2);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_wanted(const struct scenario *scenario, const char *pattern)
{
    char device[16];
    snprintf(device, sizeof device, "%s ", getenv("TORTURE_DEVICE"));
    return strstr(scenario->devices, device) != NULL &&
           fnmatch(pattern, scenario->name, FNM_EXTMATCH) == 0;
}

static void print_table(const char *pattern)
{
    for (size_t i = 0; i < torture_scenario_count; i++) {
        const struct row *row = &common->rows[i];
        int calls = 0;
        for (size_t call = 0; call < torture_call_count; call++)
            calls += common->before[i].counts[call];
        if (is_wanted(&torture_scenarios[i], pattern))
            printf("%-10s %-10s %6d calls %7d failures %7d reached %5d findings\n",
                   getenv("TORTURE_ON"), torture_scenarios[i].name, calls, row->failures,
                   row->reached, row->findings);
    }
}

/* What each counts and holds without a failure. */
static void measure(const char *pattern, int count)
{
    struct sample without = {0};
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (is_wanted(&torture_scenarios[i], pattern))
            sample_add_none(&without, i);
    run_sample(&without, count);
    free(without.task);
}

static int run_all(const char *pattern, bool is_whole, size_t most, int count)
{
    struct sample sample = {0};
    measure(pattern, count);
    for (size_t i = 0; i < torture_scenario_count && findings() == 0; i++)
        if (is_wanted(&torture_scenarios[i], pattern))
            sample_add(&sample, i, &common->before[i], is_whole);
    if (most > 0)
        sample_thin_out(&sample, most);
    run_sample(&sample, count);
    print_table(pattern);
    free(sample.task);
    return findings();
}

/* One failure alone, and what the process wrote. */
static int run_one(size_t scenario, const char *text)
{
    struct task task = {.scenario = scenario};
    if (!plan_read(&task.plan, text))
        return 1;
    measure(torture_scenarios[scenario].name, 1);
    if (task.plan.call < 0)
        return findings();
    run_open();
    try(&task);
    char *written = run_written();
    printf("%s\n%s", written,
           common->rows[scenario].reached > 0 ? "" : "the call that was to fail did not come\n");
    free(written);
    run_close();
    return findings();
}

static size_t scenario_of(const char *name)
{
    for (size_t i = 0; i < torture_scenario_count; i++)
        if (strcmp(torture_scenarios[i].name, name) == 0)
            return i;
    fprintf(stderr, "torture: there is no scenario '%s'\n", name);
    exit(2);
}

/* Behind librex's own destructors: what they free is free, and what they call has been counted. */
__attribute__((destructor(101))) static void tell_end(void)
{
    if (torture_report == NULL)
        return;
    torture_tell_held();
    torture_report->ended = true;
}

/* --play SCENARIO, --one SCENARIO PLAN, or --all or --places PATTERN MOST JOBS */
int main(int argc, char **argv)
{
    const char *command = argc > 2 ? argv[1] : "";
    if (argc == 3 && strcmp(command, "--play") == 0) {
        torture_play(&torture_scenarios[scenario_of(argv[2])]);
        return 0;
    }
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED)
        return 2;
    bool is_whole = strcmp(command, "--all") == 0;
    if (argc == 5 && (is_whole || strcmp(command, "--places") == 0))
        return run_all(argv[2], is_whole, strtoul(argv[3], NULL, 10), atoi(argv[4])) > 0;
    return argc != 4 || strcmp(command, "--one") != 0 || run_one(scenario_of(argv[2]), argv[3]) > 0;
}
