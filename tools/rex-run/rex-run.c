/*
 * rex-run.c - runs a program that links libomptarget, with librex preloaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "child.h"
#include "common/memory.h"
#include "common/option.h"
#include "common/print.h"
#include "die.h"
#include "elsewhere.h"
#include "environment.h"
#include "program.h"
#include "report.h"
#include "rex/configure.h"
#include "tell.h"

static const char usage[] =
    "usage: rex-run [OPTION]... PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs PROGRAM, which links LLVM's libomptarget, so that its calls of libomptarget\n"
    "go through librex.\n"
    "\n"
    "  --wait=POLICY           how threads wait for a GPU: auto (the default, the driver\n"
    "                          chooses spin or yield), spin (polls), yield (polls, and\n"
    "                          lets other threads run), block (sleeps) or runtime (as\n"
    "                          libomptarget sets it, which is to sleep)\n"
    "  --launch-blocking=WORD  whether librex's launches by the CUDA driver wait for their\n"
    "                          kernels: on (the default) or off; launches by\n"
    "                          libomptarget, such as all launches of clang's code,\n"
    "                          always wait (man rex-launches)\n"
    "  --trace=FILE            write a timeline of launches, mappings, copies and queues\n"
    "                          to FILE; if FILE is -, print a summary to standard error\n"
    "                          at the end\n"
    "  --report=FILE           write an HTML page to FILE that shows where the time\n"
    "                          went. The trace goes to the file of --trace, or else\n"
    "                          to FILE.json\n"
    "  --log=LEVEL             what librex logs to standard error: off, error, warn (the\n"
    "                          default), info or debug; LEVEL:FILE logs to FILE\n"
    "  --omptarget=LIB         use the file LIB as libomptarget instead of the linked one.\n"
    "                          A program does not run with every release: man rex-run\n"
    "  -h, --help              print this text\n"
    "  -V, --version           print the version\n"
    "\n"
    "The exit status is PROGRAM's; 125 if rex-run itself fails, 126 if PROGRAM cannot\n"
    "be run with librex, 127 if PROGRAM is not found.\n";

/* Exits with 0, or with an error if output was lost. */
static void finish(void)
{
    const char *why = print_end();
    if (why != NULL)
        die(NOT_RUN, "the text cannot be written: %s", why);
    exit(0);
}

static void help(void)
{
    fputs(usage, stdout);
    finish();
}

static void version(void)
{
    printf("rex-run (librex) %s\n", rex_version());
    finish();
}

/* Sets an option; the library checks the value. */
static void set(enum rex_option option, const char *variable, const char *name, const char *value)
{
    if (*value == '\0' || rex_configure(option, value) != 0) {
        static const char prefix[] = "rex_configure: ";
        const char *why = *value == '\0' ? "the value is empty" : rex_last_error();
        if (strncmp(why, prefix, sizeof prefix - 1) == 0)
            why += sizeof prefix - 1;
        die(NOT_RUN, "%s=%s: %s", name, value, why);
    }
    setenv(variable, value, 1);
}

/* VALUE is LEVEL, LEVEL:FILE or :FILE. */
static void set_log(const char *value)
{
    const char *colon = strchr(value, ':');
    set(REX_OPTION_LOG, "REX_LOG", "--log", value);
    if (colon != NULL) {
        char *level = tool_format("%.*s:", (int)(colon - value), value);
        set_file("REX_LOG", level, colon + 1);
        free(level);
    }
}

/* The values of options. NULL: the option is not given. */
struct request {
    const char *library, *trace, *report;
};

/* Returns the value of the option NAME, which getopt_long() has just read. */
static const char *not_empty(const char *name)
{
    if (*optarg == '\0')
        die(NOT_RUN, "%s: the value is empty", name);
    return optarg;
}

static struct request parse(int count, char **arguments)
{
    enum { WAIT = 256, BLOCKING, TRACE, REPORT, LOG, OMPTARGET };
    static const struct option options[] = {
        {"wait", required_argument, NULL, WAIT},
        {"launch-blocking", required_argument, NULL, BLOCKING},
        {"trace", required_argument, NULL, TRACE},
        {"report", required_argument, NULL, REPORT},
        {"log", required_argument, NULL, LOG},
        {"omptarget", required_argument, NULL, OMPTARGET},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    /* '+': options after PROGRAM are the program's. */
    static const char letters[] = "+hV";
    struct request request = {.library = NULL};
    int option;
    opterr = 0;
    while ((option = getopt_long(count, arguments, letters, options, NULL)) != -1)
        switch (option) {
        case WAIT: set(REX_OPTION_WAIT, "REX_WAIT", "--wait", optarg); break;
        case BLOCKING:
            set(REX_OPTION_LAUNCH_BLOCKING, "REX_LAUNCH_BLOCKING", "--launch-blocking", optarg);
            break;
        case LOG: set_log(optarg); break;
        case TRACE: request.trace = not_empty("--trace"); break;
        case REPORT: request.report = not_empty("--report"); break;
        case OMPTARGET: request.library = not_empty("--omptarget"); break;
        case 'h': help(); break;
        case 'V': version(); break;
        default: die(NOT_RUN, "%s; try rex-run --help", refused_option(arguments, letters));
        }
    if (optind == count)
        die(NOT_RUN, "no program is named; try rex-run --help");
    return request;
}

static void prepare_trace(const struct request *request)
{
    if (request->report != NULL)
        report_prepare(request->report, request->trace);
    else if (request->trace != NULL)
        set_file("REX_TRACE", "", request->trace);
}

/*
 * Returns true if the program must run as a child. In that case rex-run waits for the program.
 * Afterwards rex-run removes its own temporary folder, or makes the report, or does both.
 */
static bool is_child(const struct program *program, const struct request *request)
{
    if (request->library == NULL)
        find_linked(program);
    else if (lead_to(program, request->library))
        return true;
    if (request->report != NULL)
        hold_signals();
    return request->report != NULL;
}

int main(int count, char **arguments)
{
    static struct program program;
    if (getauxval(AT_SECURE) != 0)
        die(NOT_RUN,
            "rex-run has more rights than its caller (set-ID or capabilities): remove them");
    rex_configure(REX_OPTION_LOG, "off"); /* for rex-run itself, which reports errors with die() */
    struct request request = parse(count, arguments);
    find_program(&program, arguments[optind]);
    prepare_trace(&request);
    preload_librex();
    if (is_child(&program, &request))
        run_and_tidy(&program, arguments + optind, request.report != NULL ? report_make : NULL);
    write_told();
    execv(program.path, arguments + optind);
    die(REFUSED, "%s: %s", program.path, strerror(errno));
}
