/*
 * run.c - one sequence, in a child of its own: what it shows, if anything.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "rules.h"

enum { PATIENCE = 20 }; /* seconds */

struct settings walk_settings;

/* What the child tells, in memory that both have. */
static struct {
    int step;
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
    told->found = true;
    _exit(1);
}

/* ---- the child
 * ------------------------------------------------------------------------------------------------------------------------------- */

void walk_count(const struct rule *rule, bool worked)
{
    told->counts[rule - walk_rules][worked]++;
}

void walk_print_counts(void)
{
    for (int i = 0; i < walk_rule_count; i++)
        printf("%-32s %8u worked, %8u failed\n", walk_rules[i].name, told->counts[i][1], told->counts[i][0]);
}

/* The arrays are mapped for good: the fake has no mappings of its own. */
static void use_fakes(void)
{
    struct fake_record *(*get)(void);
    if (rex_runtime_bind() != REX_OK)
        walk_found("the fake libomptarget cannot be bound: %s", rex_last_error());
    void *library = dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD), *address = library != NULL ? dlsym(library, "fake_record") : NULL;
    if (address == NULL)
        walk_found("%s is no fake", rex_runtime_path());
    memcpy(&get, &address, sizeof get);
    for (int i = 0; i < HOSTS; i++)
        get()->mappings[i] = (struct fake_mapping){(uintptr_t)walk_host[i], BYTES, 0x10000000u + 0x10000u * (unsigned)i};
    dlclose(library);
}

static void run_steps(const struct sequence *sequence)
{
    walk_begin();
    if (walk_settings.gpu)
        use_fakes();
    for (told->step = 0; told->step < sequence->count; told->step++) {
        const struct step *step = &sequence->step[told->step];
        struct call call = {&walk_rules[step->function], step};
        call.rule->make(&call);
        const char *differs = walk_settings.gpu ? NULL : model_compare();
        if (differs != NULL)
            walk_found("%s", differs);
    }
    walk_end();
    const char *differs = walk_settings.gpu ? NULL : model_compare();
    if (differs != NULL)
        walk_found("%s", differs);
}

static void child(const struct sequence *sequence)
{
    char folder[] = "/tmp/walk.XXXXXX";
    const char *temporary = getenv("TMPDIR");
    if (chdir(temporary != NULL ? temporary : "/tmp") != 0 || (temporary == NULL && mkdtemp(folder) == NULL))
        _exit(2);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    alarm(PATIENCE);
    run_steps(sequence);
    fflush(stdout);
    exit(0); /* with the ends of all libraries, and a look for leaks */
}

/* ---- the parent
 * ------------------------------------------------------------------------------------------------------------------------------ */

/* The line of a sanitizer's report that says what it is, else the last one. */
static void read_errors(char *text, size_t size)
{
    static char all[1 << 16];
    ssize_t got = pread(errors, all, sizeof all - 1, 0);
    all[got > 0 ? got : 0] = '\0';
    const char *report = strstr(all, "ERROR: ");
    if (report == NULL)
        report = strstr(all, "runtime error: ");
    if (report == NULL)
        report = all + (strlen(all) > 600 ? strlen(all) - 600 : 0);
    snprintf(text, size, "%.*s", walk_settings.verbose ? 1000 : 600, report);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = walk_settings.verbose ? '\n' : ' ';
}

static void judge_end(int status, struct finding *finding)
{
    struct stat printed = {0};
    fstat(output, &printed);
    finding->found = status != 0 || told->found || printed.st_size > 0;
    finding->step = told->step;
    if (told->found) {
        snprintf(finding->what, sizeof finding->what, "wrong");
        snprintf(finding->text, sizeof finding->text, "%s", told->text);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(finding->what, sizeof finding->what, "hang of %d s", PATIENCE);
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
    told->step = 0;
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
