/*
 * rex-report.c - reports where the time of an offloading program went, from the trace of librex.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/option.h"
#include "common/print.h"
#include "page.h"
#include "rex/error.h"
#include "study.h"
#include "text.h"

enum { FAILED = 2 };

static const char usage[] =
    "usage: rex-report [OPTION]... FILE\n"
    "\n"
    "Reads a trace that librex wrote and shows where the program's time went: how\n"
    "busy each thread, device and queue was, how long kernels and copies took, what\n"
    "the program waited for, and what would make it faster. FILE may be -, the\n"
    "standard input.\n"
    "\n"
    "  -o, --output=FILE  write a page to FILE: HTML without scripts or network access\n"
    "  --text             write the report as text to standard output (the default if\n"
    "                     -o is not given)\n"
    "  -h, --help         print this text\n"
    "  -V, --version      print the version\n"
    "\n"
    "REX_TRACE=trace.json PROGRAM, or rex-run --trace=trace.json PROGRAM, writes a trace.\n"
    "Exit status: 0, or 2 if the report cannot be made.\n";

struct request {
    const char *trace, *output; /* output: NULL for no page */
    bool text;
};

static __attribute__((noreturn)) void die(char *message)
{
    tool_error("rex-report", message);
    free(message);
    exit(FAILED);
}

/* Exits with an error if output was lost. */
static void finish(void)
{
    const char *why = print_end();
    if (why != NULL)
        die(tool_format("the text cannot be written: %s", why));
}

static __attribute__((noreturn)) void say(const char *text)
{
    fputs(text, stdout);
    finish();
    exit(0);
}

/* ---- the command line ------------------------------------------------------------------------ */

static __attribute__((noreturn)) void say_version(void)
{
    printf("rex-report (librex) %s\n", rex_version());
    say("");
}

static __attribute__((noreturn)) void refuse(char *what)
{
    char *message = tool_format("%s; try rex-report --help", what);
    free(what);
    die(message);
}

static struct request parse(int count, char **arguments)
{
    enum { TEXT = 256 };
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"text", no_argument, NULL, TEXT},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    static const char letters[] = "o:hV";
    struct request request = {.text = false};
    int option;
    opterr = 0;
    while ((option = getopt_long(count, arguments, letters, options, NULL)) != -1)
        switch (option) {
        case 'o':
            if (*optarg == '\0')
                refuse(tool_format("--output: the value is empty"));
            request.output = optarg;
            break;
        case TEXT: request.text = true; break;
        case 'h': say(usage);
        case 'V': say_version();
        default: refuse(refused_option(arguments, letters));
        }
    if (optind + 1 != count)
        refuse(tool_format(optind == count ? "no trace is named" : "one trace at a time"));
    request.trace = arguments[optind];
    request.text = request.text || request.output == NULL;
    return request;
}

/* ---- files ----------------------------------------------------------------------------------- */

static FILE *open_trace(const char *path)
{
    struct stat status;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (file == NULL)
        die(tool_format("%s: %s", path, strerror(errno)));
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode))
        die(tool_format("%s: it is a folder", path));
    return file;
}

/* Refuses an OUTPUT that is the trace itself, because the page would replace the trace. */
static void check_output(const char *output, FILE *trace)
{
    struct stat one, other;
    if (output != NULL && stat(output, &one) == 0 && fstat(fileno(trace), &other) == 0 &&
        one.st_dev == other.st_dev && one.st_ino == other.st_ino && S_ISREG(one.st_mode))
        die(tool_format("%s: it is the trace itself", output));
}

/*
 * Writes the path of the file OUTPUT to PLACE. If OUTPUT is a symbolic link, PLACE is the path
 * after all links. Returns true if a new file in the same folder may replace the file PLACE. The
 * function lets open() follow the links, because Linux can then refuse links of other users in
 * folders like /tmp (fs.protected_symlinks).
 */
static bool find_place(const char *output, char place[PATH_MAX])
{
    char name[32];
    struct stat status;
    int descriptor = open(output, O_PATH | O_CLOEXEC);
    if (descriptor < 0) {
        bool is_new = errno == ENOENT && lstat(output, &status) != 0; /* not a dangling link */
        snprintf(place, PATH_MAX, "%s", output);
        return is_new;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, place, PATH_MAX - 1);
    place[length > 0 ? length : 0] = '\0';
    close(descriptor);
    return length > 0;
}

/*
 * Opens a new file in the folder of OUTPUT, and stores the name of the new file in *BESIDE. Returns
 * NULL if the new file cannot be made. Also returns NULL if OUTPUT must not be replaced: a device,
 * a file with several names, a file of another user, or a file that cannot be written.
 */
static FILE *open_beside(const char *output, char **beside)
{
    struct stat status = {.st_nlink = 0};
    mode_t mask = umask(0);
    umask(mask);
    status.st_mode = S_IFREG | (0666 & ~mask);
    bool is_there = lstat(output, &status) == 0;
    if (is_there ? !S_ISREG(status.st_mode) || status.st_nlink > 1 || status.st_uid != geteuid() ||
                       access(output, W_OK) != 0
                 : errno != ENOENT)
        return NULL;
    *beside = tool_format("%s.XXXXXX", output);
    int descriptor = mkostemp(*beside, O_CLOEXEC);
    if (descriptor >= 0 && fchmod(descriptor, status.st_mode & 0777) == 0)
        return fdopen(descriptor, "w");
    if (descriptor >= 0)
        unlink(*beside);
    return NULL;
}

/* Closes OUT. Returns 0, or the error number if the page is incomplete. */
static int end_page(FILE *out)
{
    int error = fflush(out) != 0 || ferror(out) ? errno : 0;
    return fclose(out) != 0 && error == 0 ? errno : error;
}

/*
 * Writes the page to a new file beside the output, and renames the new file when the page is
 * complete. If open_beside() cannot make a new file, writes to the output itself.
 */
static void write_page(const struct request *request, const struct study *study)
{
    char place[PATH_MAX], *beside = NULL;
    FILE *first = find_place(request->output, place) ? open_beside(place, &beside) : NULL,
         *out = first != NULL ? first : fopen(request->output, "we");
    if (out == NULL)
        die(tool_format("%s: %s", request->output, strerror(errno)));
    page_write(out, study, request->trace);
    int error = end_page(out);
    if (first != NULL && error == 0 && rename(beside, place) != 0)
        error = errno;
    if (first != NULL && error != 0)
        unlink(beside);
    if (error != 0)
        die(tool_format("%s cannot be written: %s", request->output, strerror(error)));
    free(beside);
}

int main(int count, char **arguments)
{
    static struct study study;
    const char *why;
    setlocale(LC_CTYPE, "");
    print_begin();
    struct request request = parse(count, arguments);
    FILE *trace = open_trace(request.trace);
    check_output(request.output, trace);
    if (!study_trace(&study, trace, &why))
        die(tool_format("%s: %s", request.trace, why));
    if (trace != stdin)
        fclose(trace);
    if (request.output != NULL)
        write_page(&request, &study);
    if (request.text)
        text_write(stdout, &study);
    finish();
    study_end(&study);
    return 0;
}
