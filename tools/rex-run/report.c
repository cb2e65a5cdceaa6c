/*
 * report.c - makes a report of the program's trace with rex-report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
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

/* Returns true if the file begins as librex's traces do, or is empty. */
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

/*
 * Removes the trace of an earlier run. Exits if the file is not a trace, because it may be a file
 * that the user needs.
 */
static void remove_old(void)
{
    struct stat status;
    int error = stat(trace, &status) != 0 ? errno : 0;
    if (error == ENOENT)
        return;
    if (error != 0)
        die(NOT_RUN, "%s: %s", trace, strerror(error));
    if (!S_ISREG(status.st_mode))
        die(NOT_RUN, "%s is not a regular file, which a report needs", trace);
    if (!is_trace())
        die(NOT_RUN,
            "%s is not a trace, and the trace would replace it: remove it, or name another file "
            "by --trace",
            trace);
    if (unlink(trace) != 0)
        die(NOT_RUN, "%s: %s", trace, strerror(errno));
}

/*
 * Checks that the file at PATH can be written. Returns 0 or an error number. *MADE becomes true
 * if this call has created the file.
 */
static int try_output(const char *path, bool *made)
{
    struct stat status;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *made = descriptor >= 0;
    if (*made) {
        close(descriptor);
        return 0;
    }
    if (errno != EEXIST)
        return errno;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : errno; /* PATH may be a dangling link */
    return S_ISDIR(status.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
}

/*
 * Exits if an output cannot be written. Without this check, the user would see the error only after
 * the program has run.
 */
static void check_outputs(void)
{
    struct stat of_trace = {0}, of_page = {0};
    bool made_trace, made_page;
    int trace_error = try_output(trace, &made_trace), page_error = try_output(page, &made_page);
    bool is_same = stat(trace, &of_trace) == 0 && stat(page, &of_page) == 0 &&
                   of_trace.st_dev == of_page.st_dev && of_trace.st_ino == of_page.st_ino;
    if (made_trace)
        unlink(trace);
    if (made_page)
        unlink(page);
    if (is_same)
        die(NOT_RUN, "--report=%s: it is the trace itself", page);
    if (trace_error != 0 || page_error != 0)
        die(NOT_RUN, "%s cannot be written: %s", trace_error != 0 ? trace : page,
            strerror(trace_error != 0 ? trace_error : page_error));
}

void report_prepare(const char *output, const char *given)
{
    if (given != NULL && is_setting(given))
        die(NOT_RUN,
            "--trace=%s: this is a setting, not a file name, and a report needs the trace in a "
            "file: give --trace=FILE, or leave --trace out",
            given);
    if (given != NULL && strchr(given, '%') != NULL)
        die(NOT_RUN, "--trace=%s: a report needs one file, whose name has no %%", given);
    if (given != NULL)
        path_of(trace, "%s", given);
    else
        path_of(trace, "%s.json", output);
    if (strchr(trace, '%') != NULL)
        die(NOT_RUN, "--report=%s: the name contains %%: choose another one, or give --trace=FILE",
            output);
    page = output;
    if (strcmp(page, trace) == 0)
        die(NOT_RUN, "--report=%s: it is the trace itself", page);
    remove_old();
    check_outputs();
    set_file("REX_TRACE", "", trace);
}

/* Finds rex-report, which is beside rex-run. */
static void find_tool(char tool[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    path_of(tool, "%.*s/rex-report", slash != NULL ? (int)(slash - own) : 0, own);
}

/*
 * Runs rex-report. Returns NULL if rex-report has exited, because rex-report prints its own errors.
 * If rex-report did not start, or a signal ended it, returns a text with the reason. The caller
 * frees the text.
 */
static char *run(char *const *arguments)
{
    int status = 0;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t child;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&child, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    while (error == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (error != 0)
        return tool_format("%s: %s", arguments[0], strerror(error));
    if (!WIFSIGNALED(status))
        return NULL;
    return tool_format("%s: there is no report: rex-report was ended by signal %d", page,
                       WTERMSIG(status));
}

static void say(char *message)
{
    tool_error("rex-run", message);
    free(message);
}

void report_make(void)
{
    char tool[PATH_MAX];
    if (access(trace, F_OK) != 0 && errno == ENOENT) {
        say(tool_format("%s: there is no report, because nothing was offloaded", page));
        return;
    }
    find_tool(tool);
    unsetenv("REX_TRACE");
    char *arguments[] = {tool, tool_format("--output=%s", page), "--", trace, NULL};
    char *why = run(arguments);
    if (why != NULL)
        say(why);
    free(arguments[1]);
}
