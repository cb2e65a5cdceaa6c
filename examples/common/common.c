/*
 * common.c - see common.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rex.h>

/* ---- options --------------------------------------------------------------------------------- */

enum {
    SIZE,
    DEVICE,
    VERIFY,
    NO_VERIFY,
    HELP,
    QUEUE,
    GRAPH,
    DEVICES,
    FIXED, /* number of common options; the first extra option has this number */
    MOST_EXTRA = 8,
    MOST = INT_MAX /* devices */
};

void wrong_usage(const struct settings *settings, const char *what)
{
    fprintf(stderr, "%s: %s; see --help\n", settings->program, what);
    exit(WRONG_USAGE);
}

static int count_extra(const struct settings *settings)
{
    int count = 0;
    while (settings->extra != NULL && settings->extra[count].name != NULL && count < MOST_EXTRA)
        count++;
    return count;
}

static void print_option(const char *name, const char *argument, const char *help)
{
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", name, argument != NULL ? " " : "",
             argument != NULL ? argument : "");
    printf("  %-20s %s\n", left, help);
}

static void print_help(const struct settings *settings)
{
    char size[128];
    snprintf(size, sizeof size, "%s, %" PRId64 " to %" PRId64 " (%" PRId64 ")", settings->unit,
             settings->smallest, settings->largest, settings->size);
    printf("usage: %s [options]\n\n%s\n\n", settings->program, settings->purpose);
    print_option("size", "N", size);
    for (int i = 0; i < count_extra(settings); i++)
        print_option(settings->extra[i].name, settings->extra[i].argument, settings->extra[i].help);
    if (settings->has_ways) {
        print_option("queue", NULL, "put the launches in a queue, and do not wait for each");
        print_option("graph", NULL, "capture the launches in a graph, and launch the graph");
    }
    if (settings->has_devices)
        print_option("devices", "N",
                     "divide the work among devices 0 to N-1; 0 or all: among all devices");
    print_option("device", "D",
                 settings->device_help != NULL ? settings->device_help
                                               : "device number (-1, the default device)");
    print_option("verify", NULL, "check against a serial run (default; --no-verify: do not)");
    print_option("help", NULL, "print this text");
    puts("\nExit status: 0 if the check passed, 1 if the run or the check failed, 2 for a wrong "
         "command line.");
}

/* Returns @text as a number from @least to @most, or exits with an error that names @option. */
static int64_t number_of(const struct settings *settings, const char *option, const char *text,
                         int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        fprintf(stderr, "%s: --%s wants a whole number from %lld to %lld, not \"%s\"\n",
                settings->program, option, (long long)least, (long long)most, text);
        exit(WRONG_USAGE);
    }
    return value;
}

static void take_extra(const struct settings *settings, const struct extra_option *extra,
                       const char *argument)
{
    if (argument == NULL)
        *extra->number = extra->least;
    else if (extra->number != NULL)
        *extra->number = number_of(settings, extra->name, argument, extra->least, extra->most);
    else
        *extra->text = argument;
}

static void take_option(struct settings *settings, int which, const char *argument)
{
    switch (which) {
    case SIZE:
        settings->size =
            number_of(settings, "size", argument, settings->smallest, settings->largest);
        settings->sized = 1;
        break;
    case DEVICE: settings->device = (int)number_of(settings, "device", argument, -1, MOST); break;
    case VERIFY: settings->verify = 1; break;
    case NO_VERIFY: settings->verify = 0; break;
    case HELP: print_help(settings); exit(0);
    case QUEUE: settings->way = QUEUED; break;
    case GRAPH: settings->way = CAPTURED; break;
    case DEVICES:
        settings->devices = ALL_DEVICES;
        if (strcmp(argument, "all") != 0)
            settings->devices = (int)number_of(settings, "devices", argument, 0, MOST);
        break;
    case '?': exit(WRONG_USAGE); /* getopt_long has printed the error */
    default: take_extra(settings, &settings->extra[which - FIXED], argument);
    }
}

void read_options(struct settings *settings, int argc, char **argv)
{
    struct option known[FIXED + MOST_EXTRA + 1] = {
        {"size", required_argument, NULL, SIZE},  {"device", required_argument, NULL, DEVICE},
        {"verify", no_argument, NULL, VERIFY},    {"no-verify", no_argument, NULL, NO_VERIFY},
        {"help", no_argument, NULL, HELP},
    };
    int which, count = HELP + 1;
    if (settings->has_ways) {
        known[count++] = (struct option){"queue", no_argument, NULL, QUEUE};
        known[count++] = (struct option){"graph", no_argument, NULL, GRAPH};
    }
    if (settings->has_devices)
        known[count++] = (struct option){"devices", required_argument, NULL, DEVICES};
    for (int i = 0; i < count_extra(settings); i++) {
        const struct extra_option *extra = &settings->extra[i];
        known[count++] = (struct option){extra->name, extra->argument != NULL, NULL, FIXED + i};
    }
    settings->devices = ONE_DEVICE;
    settings->device = -1;
    settings->verify = 1;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        take_option(settings, which, optarg);
    if (optind < argc)
        wrong_usage(settings, "only options are allowed, and no other arguments");
    if (settings->devices != ONE_DEVICE && settings->device >= 0)
        wrong_usage(settings, "--device and --devices exclude each other: give one or the other");
    if (settings->devices != ONE_DEVICE && settings->way != WAITING)
        wrong_usage(settings,
                    "--devices excludes --queue and --graph: it puts launches in its own queues");
}

/* ---- start ----------------------------------------------------------------------------------- */

int check_device(const struct settings *settings)
{
    if (settings->device >= rex_device_count()) {
        fprintf(stderr, "%s: device %d does not exist: the number of devices is %d\n",
                settings->program, settings->device, rex_device_count());
        return -1;
    }
    return 0;
}

int start_offload(const struct settings *settings)
{
    if (rex_offload_init() != 0)
        return -1; /* librex has printed the error */
    return check_device(settings);
}

/* ---- time and random numbers ----------------------------------------------------------------- */

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const uint64_t random_step = UINT64_C(0x9E3779B97F4A7C15);

void skip_random(uint64_t *state, uint64_t count)
{
    *state += count * random_step;
}

uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += random_step);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double next_fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) / 9007199254740992.0; /* 53 bits over 2^53 */
}

/* ---- output ---------------------------------------------------------------------------------- */

void print_line(const char *label, const char *format, ...)
{
    va_list arguments;
    printf("%-12s ", label); /* a longer label shifts the rest of the line */
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void print_digest(const void *data, size_t size)
{
    /* FNV-1a over words of 8 bytes, and over bytes after the last whole word. */
    const unsigned char *bytes = data;
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (size_t at = 0, step; at < size; at += step) {
        uint64_t word = 0;
        step = size - at < sizeof word ? 1 : sizeof word;
        memcpy(&word, bytes + at, step);
        digest = (digest ^ word) * UINT64_C(0x100000001B3);
    }
    print_line("digest", "%016llx", (unsigned long long)digest);
}

void print_device(const struct settings *settings)
{
    const char *kind = rex_on_host() ? "CPU, by libomptarget's host device" : "NVIDIA GPU";
    print_line("LLVM", "%d, %s", rex_runtime_release(), rex_runtime_path());
    if (settings->device < 0)
        print_line("device", "%s, the default of %d", kind, rex_device_count());
    else
        print_line("device", "%s, number %d of %d", kind, settings->device, rex_device_count());
    print_line("image", "%s", rex_module_image_path(&rex_this_module));
}

void print_run(const struct settings *settings, int64_t launches, double seconds)
{
    print_device(settings);
    print_line("launches", "%lld, with the copies %.6f s", (long long)launches, seconds);
}

int print_check(const struct settings *settings, int passed, double serial_seconds,
                const char *format, ...)
{
    va_list arguments;
    if (!settings->verify) {
        print_line("check", "none (--no-verify)");
        return 0;
    }
    print_line("serial run", "%.6f s", serial_seconds);
    printf("%-13s%s: ", "check", passed ? "passed" : "FAILED");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    return passed ? 0 : 1;
}
