/*
 * run.c - one sequence, in a child of its own: what it shows, if anything.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"

enum { PATIENCE = 20, LITTLE_PATIENCE = 5 }; /* seconds */

bool walk_is_shrinking;

struct settings walk_settings;

/* What the child tells, in memory that both have. */
static struct {
    int step[THREADS];
    int finder; /* the thread that has found something */
    bool found;
    char text[1024];
    unsigned counts[256][2]; /* of all sequences: calls of each rule that failed, and that worked */
} *told;
static int output = -1, errors = -1; /* of the child */

void walk_found(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(told->text, sizeof told->text, format, arguments);
    va_end(arguments);
    told->finder = walk_now.thread;
    told->found = true;
    _exit(1);
}

/* ---- the child
 * ------------------------------------------------------------------------------------------------------------------------------- */

void walk_count(const struct call *call, bool worked)
{
    __atomic_fetch_add(&told->counts[call->step->function][worked], 1, __ATOMIC_RELAXED);
}

void walk_print_counts(void)
{
    for (int i = 0; i < WALK_RULE_COUNT; i++)
        printf("%-32s %8u worked, %8u failed\n", walk_rules[i]->name, told->counts[i][1], told->counts[i][0]);
}

static void compare(void)
{
    const char *differs = model_compare(false);
    if (differs != NULL)
        walk_found("%s", differs);
}

/* Those of the sequence that are the thread's. */
static void run_steps(const struct sequence *sequence, int thread)
{
    walk_begin_thread(thread);
    for (int i = 0; i < sequence->count; i++) {
        const struct step *step = &sequence->step[i];
        struct call call = {walk_rules[step->function], step};
        if (step->thread != thread)
            continue;
        told->step[thread] = i;
        call.rule->make(&call);
        compare();
    }
    told->step[thread] = sequence->count;
    walk_end_thread();
}

static struct job {
    const struct sequence *sequence;
    int thread;
} jobs[THREADS];

static void *run_thread(void *argument)
{
    const struct job *job = argument;
    run_steps(job->sequence, job->thread);
    return NULL;
}

/* Other threads begin once the module is registered, and end before it. */
static void run_threads(const struct sequence *sequence, int threads)
{
    pthread_t thread[THREADS];
    walk_is_alone = threads == 1;
    if (threads > 1 && rex_module_init(&walk_modules[0]) != REX_OK)
        walk_found("the module cannot be registered: %s", rex_last_error());
    walk_share_begin(threads > 1);
    for (int i = 1; i < threads; i++) {
        jobs[i] = (struct job){sequence, i};
        if (pthread_create(&thread[i], NULL, run_thread, &jobs[i]) != 0)
            walk_found("thread %d cannot be made", i);
    }
    run_steps(sequence, 0);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    walk_share_end();
}

static int threads_of(const struct sequence *sequence)
{
    int threads = 1;
    for (int i = 0; i < sequence->count; i++)
        if (sequence->step[i].thread >= threads)
            threads = sequence->step[i].thread + 1;
    return threads;
}

/* The settings come before all that librex does. */
static void run_sequence(const struct sequence *sequence)
{
    const struct step *first = &sequence->step[0];
    struct call call = {walk_rules[first->function], first};
    if (sequence->count > 0 && strcmp(call.rule->name, "settings") == 0)
        call.rule->make(&call);
    walk_begin();
    run_threads(sequence, threads_of(sequence));
    walk_end();
}

static void child(const struct sequence *sequence)
{
    char folder[] = "/tmp/walk.XXXXXX";
    const char *temporary = getenv("TMPDIR");
    if (chdir(temporary != NULL ? temporary : "/tmp") != 0 || (temporary == NULL && mkdtemp(folder) == NULL))
        _exit(2);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    alarm(walk_is_shrinking ? LITTLE_PATIENCE : PATIENCE);
    run_sequence(sequence);
    fflush(stdout);
    exit(0); /* with the ends of all libraries, and a look for leaks */
}

/* ---- the parent
 * ------------------------------------------------------------------------------------------------------------------------------ */

/* The line of a sanitizer's report that says what it is, else the last one. */
static void read_errors(char *text, size_t size)
{
    static char all[1 << 16];
    off_t end = lseek(errors, 0, SEEK_END), most = (off_t)sizeof all - 1; /* a log may be before */
    ssize_t got = pread(errors, all, sizeof all - 1, end > most ? end - most : 0);
    all[got > 0 ? got : 0] = '\0';
    const char *report = strstr(all, "ERROR: ");
    if (report == NULL)
        report = strstr(all, "runtime error: ");
    if (report == NULL)
        report = all + (strlen(all) > 600 ? strlen(all) - 600 : 0);
    snprintf(text, size, "%.*s", 600, report);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
}

static void judge_end(int status, struct finding *finding)
{
    struct stat printed = {0};
    fstat(output, &printed);
    finding->found = status != 0 || told->found || printed.st_size > 0;
    finding->step = told->step[told->finder];
    if (told->found) {
        snprintf(finding->what, sizeof finding->what, "wrong");
        snprintf(finding->text, sizeof finding->text, "%s", told->text);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(finding->what, sizeof finding->what, "hang");
    else if (status != 0) {
        if (WIFSIGNALED(status))
            snprintf(finding->what, sizeof finding->what, "%s", strsignal(WTERMSIG(status)));
        else
            snprintf(finding->what, sizeof finding->what, "exit with %d", WEXITSTATUS(status));
        read_errors(finding->text, sizeof finding->text);
    } else if (finding->found)
        snprintf(finding->what, sizeof finding->what, "output of %lld bytes", (long long)printed.st_size);
}

void walk_run(const struct sequence *sequence, struct finding *finding)
{
    int status = 0;
    if (told == NULL) {
        told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        output = memfd_create("output", MFD_CLOEXEC);
        errors = memfd_create("errors", MFD_CLOEXEC);
    }
    if (told == MAP_FAILED || ftruncate(output, 0) != 0 || ftruncate(errors, 0) != 0 || lseek(output, 0, SEEK_SET) != 0 ||
        lseek(errors, 0, SEEK_SET) != 0) {
        perror("walk");
        exit(2);
    }
    memset(told->step, 0, sizeof told->step);
    told->finder = 0;
    told->found = false;
    memset(finding, 0, sizeof *finding);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child(sequence);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("walk");
        exit(2);
    }
    judge_end(status, finding);
}
