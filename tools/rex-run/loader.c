/*
 * loader.c - asks the loader for the libraries of a program, as ldd(1) does, because only the
 * loader knows its rules: run paths of every library, LD_PRELOAD, the cache, glibc-hwcaps.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/channel.h"
#include "die.h"

/*
 * Starts the program with LD_TRACE_LOADED_OBJECTS set. The loader of the program then lists the
 * libraries and exits. Returns a stream that reads the standard output of the program.
 */
static FILE *start(const struct program *program, pid_t *child)
{
    int ends[2];
    if (channel_open(ends) != 0 || (*child = fork()) < 0)
        die(NOT_RUN, "the loader cannot be started to list the program's libraries: %s",
            strerror(errno));
    if (*child == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        unsetenv("LD_DEBUG"); /* the lines of LD_DEBUG would mix with the list */
        dup2(ends[1], STDOUT_FILENO);
        /*
         * Discard the messages of the loader: the loader writes them again when the program itself
         * starts.
         */
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0)
            dup2(nowhere, STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program->path, program->path, (char *)NULL);
        _exit(NOT_RUN);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

/* The line is "\tNAME => PATH (0x...)", "\tNAME => not found" or "\tPATH (0x...)". */
static void see_line(char *line, void (*see)(const char *name, const char *path, void *context),
                     void *context)
{
    char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => "),
         *path = arrow != NULL ? arrow + 4 : name;
    char *address = strstr(path, " (0x");
    if (arrow != NULL)
        *arrow = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (address != NULL)
        *address = '\0';
    if (*name != '\0')
        see(name, arrow != NULL && strcmp(path, "not found") == 0 ? NULL : path, context);
}

void ask_loader(const struct program *program,
                void (*see)(const char *name, const char *path, void *context), void *context)
{
    pid_t child = -1;
    char *line = NULL;
    size_t room = 0;
    FILE *output = start(program, &child);
    if (output == NULL)
        die(NOT_RUN, "out of memory");
    while (getline(&line, &room, output) > 0)
        see_line(line, see, context);
    free(line);
    fclose(output);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}
