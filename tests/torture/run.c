/*
 * run.c - a scenario in a process of its own, and what is wrong with it.
 *
 * The process is a copy of this one, in which librex has done nothing but its constructors: to
 * start the program anew would take as long as the scenario does. _Fork() calls none of librex's
 * handlers, so librex and the driver take the copy for the process that they were loaded into.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "run.h"

#include <fnmatch.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process ----------------------------------------------------------------------------- */

static char folder[512];
static int output, report_file;
static struct report *shared;

static void give_up(const char *what)
{
    perror(what);
    exit(2);
}

/* Seconds. */
static unsigned limit(void)
{
    const char *set = getenv("TORTURE_LIMIT");
    return set != NULL ? (unsigned)atoi(set) : 20;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type;
    return where->level == 0 ? 0 : remove(path);
}

static void empty_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void run_open(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/torture.XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        give_up(folder);
    setenv("TORTURE_FOLDER", folder, 1);
    output = memfd_create("output", MFD_CLOEXEC);
    report_file = memfd_create("report", MFD_CLOEXEC);
    if (output < 0 || report_file < 0 || ftruncate(report_file, sizeof *shared) != 0)
        give_up("torture");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, report_file, 0);
    if (shared == MAP_FAILED)
        give_up("torture");
}

void run_close(void)
{
    empty_folder();
    if (rmdir(folder) != 0)
        perror(folder);
}

/* From the start, where a call of librex's constructors fails. */
static void start_anew(const char *scenario)
{
    char number[16];
    int file = dup(report_file); /* which stays open */
    snprintf(number, sizeof number, "%d", file);
    setenv(REPORT_VARIABLE, number, 1);
    execl("/proc/self/exe", "torture", "--play", scenario, (char *)NULL);
    _exit(96);
}

static void become(const struct scenario *scenario)
{
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    alarm(limit());
    if (torture_is_early(&shared->plan))
        start_anew(scenario->name);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    torture_follow(shared);
    torture_play(scenario);
    exit(0);
}

struct run {
    const struct scenario *scenario;
    int status; /* as of waitpid() */
    struct report report;
};

static void run_once(struct run *run, const struct plan *plan)
{
    empty_folder();
    fflush(NULL);
    *shared = (struct report){.plan = *plan};
    if (ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) != 0)
        give_up("torture");
    pid_t process = _Fork();
    if (process == 0)
        become(run->scenario);
    if (process < 0 || waitpid(process, &run->status, 0) != process)
        give_up("torture");
    run->report = *shared;
}

char *run_written(void)
{
    off_t size = lseek(output, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    if (text == NULL || pread(output, text, (size_t)size, 0) != size)
        give_up("torture");
    text[size] = '\0';
    return text;
}

/* ---- what it held ---------------------------------------------------------------------------- */

static int count_of(const struct report *report, const char *what)
{
    for (int i = 0; i < report->held_count; i++)
        if (strcmp(report->held[i].what, what) == 0)
            return report->held[i].count;
    return 0;
}

/* How much more of the I-th of what NOW holds there is than before. */
static int excess(const struct report *before, const struct report *now, int i)
{
    int more = now->held[i].count - count_of(before, now->held[i].what),
        registered = now->registrations - before->registrations;
    return more - (more > 0 && registered > 0 ? registered : 0);
}

static bool holds_more(const struct report *before, const struct report *now)
{
    for (int i = 0; i < now->held_count; i++)
        if (excess(before, now, i) > 0)
            return true;
    return false;
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* The line of the source at OFFSET of the program. */
static void name_place(size_t offset, char *place, size_t size)
{
    char command[256], self[200];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(place, size, "%zx", offset);
    snprintf(command, sizeof command, "addr2line -pfe %s %zx 2>/dev/null", self, offset);
    FILE *tool = popen(command, "r");
    if (tool != NULL && fgets(place, (int)size, tool) != NULL)
        place[strcspn(place, "\n")] = '\0';
    if (tool != NULL)
        pclose(tool);
}

static void print_head(const struct run *run)
{
    char place[512] = "", plan[PLAN_MAX];
    plan_write(&run->report.plan, plan);
    if (run->report.fired != 0)
        name_place(run->report.fired, place, sizeof place);
    printf("\n%s, %s%s%s\n", run->scenario->name, plan, *place != '\0' ? ", at " : "", place);
    printf("    to see it again: tests/torture/run --one %s %s %s\n", getenv("TORTURE_ON"),
           run->scenario->name, plan);
}

/* One more finding, in LENGTH bytes of TEXT. */
static int print_finding(const struct run *run, int found, const char *text, size_t length)
{
    if (found == 0)
        print_head(run);
    printf("    %.*s\n", (int)length, text);
    return found + 1;
}

static void print_last_lines(const char *text)
{
    int lines = 0;
    const char *from = text + strlen(text);
    while (from > text && lines < 8)
        if (*--from == '\n')
            lines++;
    printf("    it wrote: %s%s\n", from > text ? "..." : "", from);
}

/* How librex's process ended, if not well. */
static const char *bad_end(const struct run *run, char text[64])
{
    int status = run->status;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, 64, "it is still running after %u s", limit());
    else if (WIFSIGNALED(status))
        snprintf(text, 64, "it crashes: %s", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, 64, "it ends with status %d", WEXITSTATUS(status));
    else if (!run->report.ended)
        snprintf(text, 64, "it ends before its end");
    else
        return NULL;
    return text;
}

/* ROUNDS - 1 more failures have left as many more of something behind. */
#define ROUNDS 4

static int print_leaks(const struct run *run, const struct report *more, int found)
{
    for (int i = 0; i < more->held_count; i++) {
        const char *what = more->held[i].what, *offset = strchr(what, '@');
        char place[512] = "", text[700];
        if (excess(&run->report, more, i) < ROUNDS - 1)
            continue;
        if (offset != NULL)
            name_place(strtoul(offset + 1, NULL, 16), place, sizeof place);
        snprintf(text, sizeof text, "leaks %s %s", what, place);
        found = print_finding(run, found, text, strlen(text));
    }
    return found;
}

/*
 * Without a failure: what some repetitions more leave behind, with the module's end in each of
 * them, or without.
 */
static int print_growth(const struct run *run, bool with_end, int found)
{
    struct plan plan = {.call = -1, .lasting = with_end, .rounds = ROUNDS};
    struct run few = *run, many = *run;
    run_once(&few, &plan);
    plan.rounds += ROUNDS - 1;
    run_once(&many, &plan);
    return print_leaks(&few, &many.report, found);
}

/*
 * Calls of any number: they look up and measure, or make what is kept for speed. On LLVM 14
 * an address is looked up by a region.
 */
#define LOOKING                                                                            \
    "@(cuCtx*|cuDeviceP*|cuEvent*|cuLink*|cuPointer*|cuStreamGetP*|omp_target_is_present|" \
    "omp_get_mapped_ptr|__tgt_target_data_begin_mapper|__tgt_target_data_end_mapper)"

/*
 * Where librex gets on without memory, and says so to nobody, all is as with it. Large copies need
 * neither threads nor a launch context: the driver copies then.
 */
static int print_difference(const struct run *run, const struct report *before, int found)
{
    const struct report *now = &run->report;
    char text[200];
    enum kind kind = torture_calls[now->plan.call].kind;
    if (now->plan.code != ENOMEM || kind == KIND_THREADS || now->has_failed ||
        strcmp(run->scenario->name, "large") == 0)
        return found;
    for (size_t i = 0; i < torture_call_count; i++) {
        const char *name = torture_calls[i].name;
        snprintf(text, sizeof text, "no step fails, and there are %d calls of %s instead of %d",
                 now->done[i], name, before->done[i]);
        if (now->done[i] != before->done[i] && fnmatch(LOOKING, name, FNM_EXTMATCH) != 0)
            found = print_finding(run, found, text, strlen(text));
    }
    return found;
}

int run_try(const struct scenario *scenario, const struct plan *plan, const struct report *before,
            struct report *report)
{
    struct run run = {.scenario = scenario}, more = run;
    char text[64];
    int found = 0;
    run_once(&run, plan);
    char *written = run_written();
    const char *end = bad_end(&run, text);
    for (const char *line = run.report.problems; *line != '\0'; line = strchr(line, '\n') + 1)
        found = print_finding(&run, found, line, strcspn(line, "\n"));
    if (end != NULL)
        found = print_finding(&run, found, end, strlen(end));
    if (end == NULL && before != NULL && holds_more(before, &run.report)) {
        struct plan often = *plan;
        often.rounds = ROUNDS;
        run_once(&more, &often);
        found = print_leaks(&run, &more.report, found);
    }
    if (end == NULL && before != NULL)
        found = print_difference(&run, before, found);
    for (int with_end = 0; end == NULL && before == NULL && with_end < 2; with_end++)
        found = print_growth(&run, with_end, found);
    if (found > 0)
        print_last_lines(written);
    fflush(stdout);
    free(written);
    *report = run.report;
    return found;
}
