/*
 * rex-check.c - reads a program and its device images without running them, and reports mismatches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/option.h"
#include "common/print.h"
#include "entries.h"
#include "find.h"
#include "json.h"
#include "keys.h"
#include "match.h"
#include "open.h"
#include "rex/configure.h"
#include "sourcecheck.h"
#include "text.h"

enum status { STATUS_CLEAN, STATUS_FINDINGS, STATUS_UNUSABLE };

struct options {
    bool json, source, quiet, colour;
};

static void usage(FILE *out)
{
    fputs("usage: rex-check [OPTION...] PROGRAM|OBJECT [IMAGE...]\n"
          "       rex-check --source [OPTION...] FILE...\n"
          "\n"
          "Reads a program, shared object or object file and its device images (compiled\n"
          "kernels), without running them. Lists each kernel: its host key (the address\n"
          "that a launch passes), its offload entry (the row that registers it), its name,\n"
          "and what the images contain for it. Then lists what does not match. Without\n"
          "IMAGE, it reads the images that librex would load.\n"
          "\n"
          "  --source          check a code generator's output before it is compiled: host\n"
          "                    files (C, C++) and device files (.cu)\n"
          "  --json            print JSON\n"
          "  -q, --quiet       print only findings and notes; notes do not change the exit\n"
          "                    status\n"
          "  --color=WHEN      when to use colour: always, never or auto (the default, colour\n"
          "                    only on a terminal, and only if NO_COLOR is unset or empty)\n"
          "  -h, --help        print this text\n"
          "  -V, --version     print the version\n"
          "\n"
          "Exit status: 0 without findings, 1 with findings, 2 if an option is wrong or a\n"
          "file cannot be used.\n"
          "\n"
          "Findings (source: only with --source):\n",
          out);
    for (enum finding i = 0; i < FINDING_COUNT; i++)
        fprintf(out, "  %-20s %s\n", finding_name(i), finding_meaning(i));
}

static int unusable(const char *why)
{
    tool_error("rex-check", why);
    return STATUS_UNUSABLE;
}

/* Handles SIGBUS: another process has shortened a mapped file, so the end of the file is gone. */
static void end_cut(int number)
{
    static const char message[] = "rex-check: a file was shortened while it was read\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(STATUS_UNUSABLE);
}

#define LETTERS "qhV"

static int bad_option(char *const *arguments)
{
    char *what = refused_option(arguments, LETTERS),
         *why = tool_format("%s; see rex-check --help", what);
    int status = unusable(why);
    free(why);
    free(what);
    return status;
}

/* Lost output is a failure: a full disk must not look like a clean program. */
static int finish(const struct report *report)
{
    const char *why = print_end();
    char text[WHY_MAX];
    if (why != NULL) {
        snprintf(text, sizeof text, "the report cannot be written: %s", why);
        return unusable(text);
    }
    return report->findings > 0 ? STATUS_FINDINGS : STATUS_CLEAN;
}

static int open_images(struct images *images, const struct program *program, char **paths,
                       struct report *report, char why[WHY_MAX])
{
    for (; *paths != NULL; paths++)
        if (images_add(images, program, *paths, report, why) != 0)
            return -1;
    return images->count > 0 ? 0 : images_find(images, program, report, why);
}

static int check_opened(const struct program *program, char **paths, const struct options *options)
{
    struct report report = {0};
    struct images images = {0};
    char why[WHY_MAX];
    int status;
    check_entries(program, &report);
    check_keys(program, &report);
    if (open_images(&images, program, paths, &report, why) != 0)
        status = unusable(why);
    else {
        check_images(program, &images, &report);
        if (options->json)
            show_json(program, &images, &report);
        else
            show_text(program, &images, &report, options->quiet, options->colour);
        status = finish(&report);
    }
    images_close(&images);
    report_free(&report);
    return status;
}

static int check_program(char **paths, const struct options *options)
{
    struct program program;
    char why[WHY_MAX];
    int status;
    if (program_open(&program, *paths) == 0)
        status = check_opened(&program, paths + 1, options);
    else {
        const char *alone = images_alone(*paths);
        if (alone != NULL)
            snprintf(why, sizeof why, "%.*s: it is %s: give the program first, then its images",
                     PATH_MAX, *paths, alone);
        else
            snprintf(why, sizeof why, "%.*s: %s", PATH_MAX, *paths, program.file.why);
        status = unusable(why);
    }
    program_close(&program);
    return status;
}

static int check_files(char **paths, size_t count, const struct options *options)
{
    struct report report = {0};
    struct source *sources = tool_alloc(count, sizeof *sources);
    char why[WHY_MAX];
    size_t read = 0;
    while (read < count && source_read(&sources[read], paths[read], why) == 0)
        read++;
    if (read == count) {
        check_sources(sources, count, &report);
        if (options->json) {
            printf("{\n  \"tool\": \"rex-check\",\n  \"version\": \"%s\",\n", rex_version());
            report_print_json(&report);
            puts("}");
        } else
            report_print(&report, options->colour);
    }
    int status = read == count ? finish(&report) : unusable(why);
    for (size_t i = 0; i < count; i++)
        free(sources[i].bytes);
    free(sources);
    report_free(&report);
    return status;
}

static int read_colour(const char *when, bool *colour)
{
    if (strcmp(when, "auto") == 0)
        *colour = print_colour(stdout);
    else if (strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        *colour = *when == 'a';
    else
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    enum { JSON = 256, SOURCE, COLOUR };
    static const struct option known[] = {
        {"json", no_argument, NULL, JSON},           {"source", no_argument, NULL, SOURCE},
        {"quiet", no_argument, NULL, 'q'},           {"color", required_argument, NULL, COLOUR},
        {"colour", required_argument, NULL, COLOUR}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},         {NULL, 0, NULL, 0}};
    const struct report nothing = {0};
    struct options options = {.colour = print_colour(stdout)};
    print_begin();
    signal(SIGBUS, end_cut);
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, LETTERS, known, NULL)) != -1;) {
        if (option == 'h') {
            usage(stdout);
            return finish(&nothing);
        }
        if (option == 'V') {
            printf("rex-check (librex) %s\n", rex_version());
            return finish(&nothing);
        }
        if (option == '?')
            return bad_option(argv);
        options.json |= option == JSON;
        options.source |= option == SOURCE;
        options.quiet |= option == 'q';
        if (option == COLOUR && read_colour(optarg, &options.colour) != 0)
            return unusable("--color must be auto, always or never");
    }
    if (optind == argc) {
        usage(stderr);
        return STATUS_UNUSABLE;
    }
    /* rex-check itself reports why an image cannot be used; the log would repeat the reason. */
    rex_configure(REX_OPTION_LOG, "off");
    return options.source ? check_files(argv + optind, (size_t)(argc - optind), &options)
                          : check_program(argv + optind, &options);
}
