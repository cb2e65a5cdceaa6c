/*
 * child.c - runs the program as a child, because rex-run has work to do after the program. The
 * caller of rex-run sees the program's exit status or signal.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/print.h"
#include "die.h"
#include "folder.h"
#include "tell.h"

/*
 * The signal mask and SIGCHLD handler that rex-run was started with. The child sets them again
 * before it becomes the program.
 */
static sigset_t mask;
static void (*at_child)(int);

void hold_signals(void)
{
    sigset_t all;
    at_child = signal(SIGCHLD, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
}

static void become(const struct program *program, char **arguments, pid_t parent)
{
    /* If rex-run is killed, the program must end, too. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(NOT_RUN);
    signal(SIGCHLD, at_child);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    write_told();
    execv(program->path, arguments);
    char *why = tool_format("%s: %s", program->path, strerror(errno));
    tool_error("rex-run", why);
    _exit(REFUSED);
}

/* Ends rex-run as the child ended: with the child's status, or by the child's signal. */
static void end_as(int status, void (*behind)(void))
{
    sigset_t none;
    remove_folder();
    if (behind != NULL)
        behind();
    if (WIFEXITED(status))
        exit(WEXITSTATUS(status));
    /* Write no core file, because the child may have written its own. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), WTERMSIG(status));
    exit(128 + WTERMSIG(status));
}

/* Ends or stops rex-run if the child has ended or stopped. Call this at each SIGCHLD. */
static void look_after(pid_t child, void (*behind)(void))
{
    int status;
    while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
        if (!WIFSTOPPED(status))
            end_as(status, behind);
        raise(SIGSTOP); /* stop rex-run like the child, so that the shell reports a stopped job */
    }
}

void run_and_tidy(const struct program *program, char **arguments, void (*behind)(void))
{
    sigset_t all;
    siginfo_t info;
    pid_t parent = getpid();
    sigfillset(&all);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        die(NOT_RUN, "no process can be made: %s", strerror(errno));
    if (child == 0)
        become(program, arguments, parent);
    for (;;) {
        int number = sigwaitinfo(&all, &info);
        if (number == SIGCHLD)
            look_after(child, behind);
        /*
         * Pass on a signal that a process has sent. A signal of the terminal has reached the child
         * already, because the child is in rex-run's process group.
         */
        else if (number > 0 && info.si_code <= 0)
            kill(child, number);
    }
}
