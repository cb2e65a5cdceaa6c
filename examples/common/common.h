/*
 * common.h - what the reduced Rodinia programs share: options, the clock, the lines that every one of them prints. Nothing here
 * is about offloading but start_offload(), the one call at the beginning.
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

/* ---- options ------------------------------------------------------------------------------------------------------- */

/* An option that one program has and the others have not. It takes a whole number, or, where @number is NULL, a text. */
struct extra_option {
    const char *name;     /* without the dashes */
    const char *argument; /* its argument's name in --help: N, FILE */
    const char *help;     /* one line */
    const char **text;    /* receives the argument */
    int64_t *number;      /* receives it as a number */
    int64_t least, most;  /* between these */
};

/* How a program launches: it waits for each launch, puts them in a queue (--queue), or captures them in a graph (--graph). */
enum way { WAITING, QUEUED, CAPTURED };

/* settings.devices: what --devices says where that is no number of them. */
enum { ONE_DEVICE = -1, ALL_DEVICES = 0 };

/* A program and how it was started. */
struct settings {
    const char *program;
    const char *purpose;              /* what it does, lines for --help */
    const char *unit;                 /* what --size counts */
    int64_t size, smallest, largest;  /* --size: in, the default and the limits; out, what was asked for */
    const struct extra_option *extra; /* ends with a NULL name; may be NULL */
    int has_ways;                     /* in: there are --queue and --graph */
    enum way way;                     /* out: which was given */
    int has_devices;                  /* in: there is --devices */
    int devices;                      /* out: how many share the work; ONE_DEVICE without the option, ALL_DEVICES */
    int device;                       /* out: --device, -1 for the default */
    int verify;                       /* out: 0 after --no-verify */
    int sized;                        /* out: --size was given */
};

/*
 * Reads the command line: --size, --device, --verify, --no-verify, --help, --queue and --graph if @has_ways, --devices if @has_devices,
 * and the extra ones. Leaves the program on --help (0) and on errors (2).
 */
void read_options(struct settings *settings, int argc, char **argv);

/* Leaves the program with status 2 and "PROGRAM: @what; see --help". */
__attribute__((__noreturn__)) void wrong_usage(const struct settings *settings, const char *what);

/* ---- start --------------------------------------------------------------------------------------------------------- */

/* Registers the image, loads it, checks the device's number. 0, or -1 with the reason on stderr. */
int start_offload(const struct settings *settings);

/* Its second half, for programs that call rex_offload_init() themselves. */
int check_device(const struct settings *settings);

/* ---- time and random numbers --------------------------------------------------------------------------------------- */

/* Seconds since some moment in the past. */
double seconds_now(void);

/* The next number from a state that may start as anything (splitmix64): the same numbers on every machine. */
uint64_t next_random(uint64_t *state);

/* Passes over @count of them at once. */
void skip_random(uint64_t *state, uint64_t count);

/* The same as a number in [0, 1). */
double next_fraction(uint64_t *state);

/* ---- output -------------------------------------------------------------------------------------------------------- */

/* One line of the summary: @label, and the rest as printf prints it. */
__attribute__((format(printf, 2, 3))) void print_line(const char *label, const char *format, ...);

/* A line with a number that any other bit among the @size bytes at @data changes: to compare runs that keep no files. */
void print_digest(const void *data, size_t size);

/* The lines about LLVM, device, image, and launches. @seconds is what the launches and copies took. */
void print_run(const struct settings *settings, int64_t launches, double seconds);

/*
 * The last two lines: how long the serial run took, and the check's outcome with what it found. Returns the program's exit status.
 * Without --verify, nothing is said but that.
 */
__attribute__((format(printf, 4, 5))) int print_check(const struct settings *settings, int passed, double serial_seconds,
                                                      const char *format, ...);

#endif
