/*
 * report.c - the report that rex-report makes of the program's trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "report.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/print.h"
#include "die.h"
#include "environment.h"

static const char *page;
static char trace[PATH_MAX];

/* Whether the file begins as librex's traces do, or is empty. */
static bool is_trace(void)
{
    static const char begin[] = "[\n{\"ph\":\"M\",\"name\":\"process_name\"";
    char bytes[sizeof begin - 1];
    FILE *file = fopen(trace, "re");
    if (file == NULL)
        die(NOT_RUN, "%s: %s", trace, strerror(errno));
    size_t got = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return got == 0 || (got == sizeof bytes && memcmp(bytes, begin, got) == 0);
}

/* The trace of an earlier run is not of this one. Any other file is the user's. */
static void remove_old(void)
{
    struct stat status;
    if (stat(trace, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if (!is_trace())
        die(NOT_RUN,
            "%s is there, and is no trace: the trace would take its place; remove it, or name "
            "another file by --trace",
            trace);
    if (unlink(trace) != 0)
        die(NOT_RUN, "%s: %s", trace, strerror(errno));
}

void report_prepare(const char *output, const char *given)
{
    if (*output == '\0')
        die(NOT_RUN, "--report: the value is empty");
    if (given != NULL && (strchr(given, '%') != NULL || strcmp(given, "-") == 0))
        die(NOT_RUN, "--trace=%s: a report is made of one file, whose name has no %%", given);
    if (given != NULL)
        path_of(trace, "%s", given);
    else
        path_of(trace, "%s.json", output);
    if (strchr(trace, '%') != NULL)
        die(NOT_RUN, "--report=%s: %% in the name has to be left out, or --trace=FILE be given",
            output);
    page = output;
    remove_old();
    set_file("REX_TRACE", "", trace);
}

/* rex-report, which lies beside rex-run. */
static void find_tool(char tool[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    path_of(tool, "%.*s/rex-report", slash != NULL ? (int)(slash - own) : 0, own);
}

/* 0, or why it could not be started; what it says itself is its own. */
static int run(char *const *arguments)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t child;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&child, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    while (error == 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return error;
}

static void say(char *message)
{
    tool_error("rex-run", message);
    free(message);
}

void report_make(void)
{
    char tool[PATH_MAX];
    if (access(trace, F_OK) != 0) {
        say(tool_format("%s: there is no report, since nothing was offloaded", page));
        return;
    }
    find_tool(tool);
    unsetenv("REX_TRACE");
    char *arguments[] = {tool, tool_format("--output=%s", page), "--", trace, NULL};
    int error = run(arguments);
    if (error != 0)
        say(tool_format("%s: %s", tool, strerror(error)));
    free(arguments[1]);
}
