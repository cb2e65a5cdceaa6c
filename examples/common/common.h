/*
 * common.h - code that several examples share: options, the start, the clock, random numbers, and
 * the lines that each program prints.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stddef.h>
#include <stdint.h>

enum {
    WRONG_USAGE = 2 /* exit status for a wrong command line */
};

/* ---- options --------------------------------------------------------------------------------- */

/* An option of one program. Its argument is a whole number, or a text if @number is NULL. */
struct extra_option {
    const char *name;     /* without the dashes */
    const char *argument; /* its name in --help: N, FILE; NULL: no argument, *number = least */
    const char *help;     /* one line */
    const char **text;    /* receives the argument as a text */
    int64_t *number;      /* receives the argument as a number */
    int64_t least, most;  /* minimum and maximum of the number */
};

/* Ways to launch: wait for each launch, put all in a queue, or capture them in a graph. */
enum way { WAITING, QUEUED, CAPTURED };

/* Values of settings.devices that are not a number of devices. */
enum { ONE_DEVICE = -1, ALL_DEVICES = 0 };

/* A program and its command line. */
struct settings {
    const char *program;
    const char *purpose;              /* description, one or more lines for --help */
    const char *unit;                 /* unit of --size, for --help */
    const char *device_help;          /* of --device; NULL: -1 is the default device */
    int64_t size;                     /* in: default of --size; out: the chosen size */
    int64_t smallest, largest;        /* in: limits of --size */
    const struct extra_option *extra; /* ends with a NULL name; may be NULL */
    int has_ways;                     /* in: the program has --queue and --graph */
    enum way way;                     /* out: the chosen way */
    int has_devices;                  /* in: the program has --devices */
    int devices;                      /* out: number of devices, or ONE_DEVICE or ALL_DEVICES */
    int device;                       /* out: --device, -1 for the default */
    int verify;                       /* out: 0 after --no-verify */
    int sized;                        /* out: --size was given */
};

/*
 * Reads the command line: --size, --device, --verify, --no-verify, --help, --queue and --graph if
 * @has_ways, --devices if @has_devices, and the extra options. Exits on --help (0) and errors (2).
 */
void read_options(struct settings *settings, int argc, char **argv);

/* Prints "PROGRAM: @what; see --help" and exits with status 2. */
__attribute__((__noreturn__)) void wrong_usage(const struct settings *settings, const char *what);

/* ---- start ----------------------------------------------------------------------------------- */

/* Registers and loads the image, and checks the device. Returns 0, or -1 with a line on stderr. */
int start_offload(const struct settings *settings);

/* Checks settings->device after rex_offload_init(). Returns 0, or -1 with a line on stderr. */
int check_device(const struct settings *settings);

/* ---- time and random numbers ----------------------------------------------------------------- */

/* Returns the seconds since a fixed moment in the past. */
double seconds_now(void);

/* Returns the next random number (splitmix64). Any state is a valid start. */
uint64_t next_random(uint64_t *state);

/* Skips @count random numbers. */
void skip_random(uint64_t *state, uint64_t count);

/* Returns the next random number in [0, 1). */
double next_fraction(uint64_t *state);

/* ---- output ---------------------------------------------------------------------------------- */

/* Prints a line of the summary: @label, and the arguments as printf formats them. */
__attribute__((format(printf, 2, 3))) void print_line(const char *label, const char *format, ...);

/* Prints a line with a checksum of the @size bytes at @data. */
void print_digest(const void *data, size_t size);

/* Prints the lines about LLVM, device and image. */
void print_device(const struct settings *settings);

/* Calls print_device(), and prints a line about the launches; @seconds includes the copies. */
void print_run(const struct settings *settings, int64_t launches, double seconds);

/*
 * Prints the last two lines: the time of the serial run, and the result of the check with details.
 * After --no-verify it only prints that there was no check. Returns the program's exit status.
 */
__attribute__((format(printf, 4, 5))) int print_check(const struct settings *settings, int passed,
                                                      double serial_seconds, const char *format,
                                                      ...);

#endif
