/*
 * common.h - what the reduced Rodinia programs share: options, the clock, the lines that every one
 * of them prints. Of offloading there is start_offload() alone.
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

/* An option of one program. It takes a whole number, or, where @number is NULL, a text. */
struct extra_option {
    const char *name;     /* without the dashes */
    const char *argument; /* its argument's name in --help: N, FILE; NULL: none, @least is meant */
    const char *help;     /* one line */
    const char **text;    /* receives the argument */
    int64_t *number;      /* receives it as a number */
    int64_t least, most;  /* between these */
};

/* How a program launches: waits for each, puts them in a queue, or captures them in a graph. */
enum way { WAITING, QUEUED, CAPTURED };

/* settings.devices: what --devices says where that is no number of them. */
enum { ONE_DEVICE = -1, ALL_DEVICES = 0 };

/* A program and how it was started. */
struct settings {
    const char *program;
    const char *purpose;              /* what it does, lines for --help */
    const char *unit;                 /* what --size counts */
    int64_t size;                     /* --size: in, the default; out, what was asked for */
    int64_t smallest, largest;        /* in: its limits */
    const struct extra_option *extra; /* ends with a NULL name; may be NULL */
    int has_ways;                     /* in: there are --queue and --graph */
    enum way way;                     /* out: which was given */
    int has_devices;                  /* in: there is --devices */
    int devices;                      /* out: how many share the work, ONE_DEVICE, ALL_DEVICES */
    int device;                       /* out: --device, -1 for the default */
    int verify;                       /* out: 0 after --no-verify */
    int sized;                        /* out: --size was given */
};

/*
 * Reads the command line: --size, --device, --verify, --no-verify, --help, --queue and --graph if
 * @has_ways, --devices if @has_devices, and the extra ones. Exits on --help (0) and errors (2).
 */
void read_options(struct settings *settings, int argc, char **argv);

/* Leaves the program with status 2 and "PROGRAM: @what; see --help". */
__attribute__((__noreturn__)) void wrong_usage(const struct settings *settings, const char *what);

/* ---- start ----------------------------------------------------------------------------------- */

/* Registers the image, loads it, checks the device's number. 0, or -1 with the reason on stderr. */
int start_offload(const struct settings *settings);

/* Its second half, for programs that call rex_offload_init() themselves. */
int check_device(const struct settings *settings);

/* ---- time and random numbers ----------------------------------------------------------------- */

/* Seconds since some moment in the past. */
double seconds_now(void);

/* The next number (splitmix64) of a state that may start as anything: the same everywhere. */
uint64_t next_random(uint64_t *state);

/* Passes over @count of them at once. */
void skip_random(uint64_t *state, uint64_t count);

/* The same as a number in [0, 1). */
double next_fraction(uint64_t *state);

/* ---- output ---------------------------------------------------------------------------------- */

/* One line of the summary: @label, and the rest as printf prints it. */
__attribute__((format(printf, 2, 3))) void print_line(const char *label, const char *format, ...);

/* A line with a number that any other bit in the @size bytes at @data would change. */
void print_digest(const void *data, size_t size);

/* The lines about LLVM, device and image. */
void print_device(const struct settings *settings);

/* The same with a line about the launches, which took @seconds with their copies. */
void print_run(const struct settings *settings, int64_t launches, double seconds);

/*
 * The last two lines: how long the serial run took, and the check's outcome with what it found.
 * Returns the program's exit status. Without --verify, nothing is said but that.
 */
__attribute__((format(printf, 4, 5))) int print_check(const struct settings *settings, int passed,
                                                      double serial_seconds, const char *format,
                                                      ...);

#endif
