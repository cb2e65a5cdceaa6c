/*
 * run.c - one run of a scenario in a process of its own, and what is wrong with it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "run.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds. */
static unsigned limit(void)
{
    const char *set = getenv("TORTURE_LIMIT");
    return set != NULL ? (unsigned)atoi(set) : 20;
}

/* ---- the process -------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type;
    return where->level == 0 ? 0 : remove(path);
}

void run_empty(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void become(const struct run *run, const char *folder)
{
    char number[16], cache[512];
    snprintf(number, sizeof number, "%d", dup(run->tell)); /* which stays, and no other run has it */
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("TORTURE_TELL", number, 1);
    setenv("TORTURE_FOLDER", folder, 1);
    setenv("REX_CACHE", cache, 1);
    if (run->plan[0] != '\0')
        setenv(PLAN_VARIABLE, run->plan, 1);
    if (run->rounds > 0) {
        snprintf(number, sizeof number, "%d", run->rounds);
        setenv("TORTURE_ROUNDS", number, 1);
    }
    dup2(run->output, STDOUT_FILENO);
    dup2(run->output, STDERR_FILENO);
    alarm(limit());
    execl("/proc/self/exe", "torture", "--play", run->scenario->name, (char *)NULL);
    _exit(96);
}

void run_start(struct run *run, const char *folder)
{
    run_empty(folder);
    run->tell = memfd_create("tell", MFD_CLOEXEC);
    run->output = memfd_create("output", MFD_CLOEXEC);
    run->process = run->tell < 0 || run->output < 0 ? -1 : fork();
    if (run->process == 0)
        become(run, folder);
    if (run->process > 0)
        return;
    perror("torture");
    exit(2);
}

static char *whole(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    if (text == NULL || pread(fd, text, (size_t)size, 0) != size) {
        perror("torture");
        exit(2);
    }
    text[size] = '\0';
    return text;
}

char *run_told(const struct run *run)
{
    return whole(run->tell);
}

char *run_written(const struct run *run)
{
    return whole(run->output);
}

void run_close(struct run *run)
{
    close(run->tell);
    close(run->output);
}

/* ---- what it held ------------------------------------------------------------------------------------------------------------------- */

static void add(struct baseline *baseline, const char *what, int count)
{
    for (size_t i = 0; i < baseline->held_count; i++)
        if (strcmp(baseline->held[i].what, what) == 0) {
            baseline->held[i].count += count;
            return;
        }
    struct held *grown = realloc(baseline->held, (baseline->held_count + 1) * sizeof *grown);
    char *copy = strdup(what);
    if (grown == NULL || copy == NULL)
        abort();
    baseline->held = grown;
    grown[baseline->held_count++] = (struct held){copy, count};
}

static int count_of(const struct baseline *baseline, const char *what)
{
    for (size_t i = 0; i < baseline->held_count; i++)
        if (strcmp(baseline->held[i].what, what) == 0)
            return baseline->held[i].count;
    return 0;
}

void baseline_read(struct baseline *baseline, const char *told)
{
    char name[64], *copy = strdup(told), *rest = copy;
    int count, used;
    *baseline = (struct baseline){.counts = calloc(torture_call_count, sizeof(int))};
    if (copy == NULL || baseline->counts == NULL)
        abort();
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (sscanf(line, "count %63s %d", name, &count) == 2 && torture_find(name) >= 0)
            baseline->counts[torture_find(name)] = count;
        if (sscanf(line, "registrations %d", &count) == 1)
            baseline->registrations = count;
        char *number = strncmp(line, "held ", 5) == 0 ? strrchr(line, ' ') : NULL;
        if (number != NULL && sscanf(number, " %d%n", &count, &used) == 1) {
            *number = '\0';
            add(baseline, line + 5, count);
        }
    }
    free(copy);
}

static void baseline_free(struct baseline *baseline)
{
    for (size_t i = 0; i < baseline->held_count; i++)
        free(baseline->held[i].what);
    free(baseline->held);
    free(baseline->counts);
}

/* ---- what is wrong ------------------------------------------------------------------------------------------------------------------ */

/* The line of the source at OFFSET, hexadecimal, of the program. */
static void name_place(const char *offset, char *place, size_t size)
{
    char command[256], self[200];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(place, size, "%s", offset);
    snprintf(command, sizeof command, "addr2line -pfe %s %s 2>/dev/null", self, offset);
    FILE *tool = popen(command, "r");
    if (tool != NULL && fgets(place, (int)size, tool) != NULL)
        place[strcspn(place, "\n")] = '\0';
    if (tool != NULL)
        pclose(tool);
}

static void print_head(const struct run *run, const char *told)
{
    char place[512] = "", offset[32];
    const char *fired = strstr(told, "fired ");
    if (fired != NULL && sscanf(fired, "fired %31s", offset) == 1)
        name_place(offset, place, sizeof place);
    printf("\n%s, %s%s%s\n", run->scenario->name, run->plan[0] != '\0' ? run->plan : "nothing fails", *place != '\0' ? ", at " : "", place);
    printf("    to see it again: tests/torture/run --one %s %s %s\n", getenv("TORTURE_ON"), run->scenario->name,
           run->plan[0] != '\0' ? run->plan : "-");
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
static const char *bad_end(const struct run *run, const char *told, char text[64])
{
    int status = run->status;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, 64, "it is still running after %u s", limit());
    else if (WIFSIGNALED(status))
        snprintf(text, 64, "it crashes: %s", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, 64, "it ends with status %d", WEXITSTATUS(status));
    else if (strstr(told, "end\n") == NULL)
        snprintf(text, 64, "it ends before its end");
    else
        return NULL;
    return text;
}

/* How much more of the I-th of what NOW holds there is than before. */
static int excess(const struct baseline *before, const struct baseline *now, size_t i)
{
    int more = now->held[i].count - count_of(before, now->held[i].what), registered = now->registrations - before->registrations;
    return more - (more > 0 && registered > 0 ? registered : 0);
}

static bool holds_more(const struct baseline *before, const struct baseline *now)
{
    for (size_t i = 0; i < now->held_count; i++)
        if (excess(before, now, i) > 0)
            return true;
    return false;
}

#define ROUNDS 4

void run_start_again(const struct run *run, struct run *again, const char *folder)
{
    *again = (struct run){.scenario = run->scenario, .rounds = ROUNDS};
    memcpy(again->plan, run->plan, sizeof again->plan);
    run_start(again, folder);
}

static void read_run(struct baseline *baseline, const struct run *run)
{
    char *told = run_told(run);
    baseline_read(baseline, told);
    free(told);
}

static int print_leaks(const struct run *run, const char *told, const struct run *again, int found)
{
    struct baseline now, more;
    baseline_read(&now, told);
    read_run(&more, again);
    for (size_t i = 0; i < more.held_count; i++) {
        const char *what = more.held[i].what, *offset = strchr(what, '@');
        char place[512] = "";
        if (excess(&now, &more, i) < ROUNDS - 1)
            continue;
        if (found++ == 0)
            print_head(run, told);
        if (offset != NULL)
            name_place(offset + 1, place, sizeof place);
        printf("    leaks %s %s\n", what, place);
    }
    baseline_free(&now);
    baseline_free(&more);
    return found;
}

static int print_problems(const struct run *run, const char *told, int found)
{
    for (const char *line = told; (line = strstr(line, "problem ")) != NULL; line++) {
        if (line > told && line[-1] != '\n')
            continue;
        if (found++ == 0)
            print_head(run, told);
        printf("    %.*s\n", (int)strcspn(line + 8, "\n"), line + 8);
    }
    return found;
}

bool run_is_suspect(const struct run *run, const struct baseline *baseline)
{
    char *told = run_told(run), text[64];
    struct baseline now;
    baseline_read(&now, told);
    bool is_suspect = bad_end(run, told, text) == NULL && holds_more(baseline, &now);
    baseline_free(&now);
    free(told);
    return is_suspect;
}

int run_judge(const struct run *run, const struct run *again, bool *reached)
{
    char *told = run_told(run), *written = run_written(run), text[64];
    int found = print_problems(run, told, 0);
    const char *end = bad_end(run, told, text);
    *reached = strstr(told, "fired ") != NULL;
    if (end != NULL && found++ == 0)
        print_head(run, told);
    if (end != NULL)
        printf("    %s\n", end);
    if (again != NULL)
        found = print_leaks(run, told, again, found);
    if (found > 0)
        print_last_lines(written);
    fflush(stdout);
    free(told);
    free(written);
    return found;
}
