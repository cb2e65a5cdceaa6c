/*
 * nn.h - declarations for the parts of nn.
 *
 *   nn.c        main.
 *   offload.c   the device run: read this file to learn offloading.
 *   resident.c  the run with all records on the device, for --queue and --graph.
 *   devices.c   the run on several devices, for --devices.
 *   all.c       all records of a list, for resident.c and devices.c.
 *   kernels.cu  the device side.
 *   serial.c    the reference for the check.
 *   place.h     the place of a record, for host and device.
 *   records.c   record files in Rodinia's format: generates them, and reads them by windows.
 *   nearest.c   the nearest records found so far.
 *   frame.c     options, inputs, the check, the summary.
 *
 * examples/nn_raw also uses the last five.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef NN_H
#define NN_H

#include <stdint.h>
#include <stdio.h>

#include "../common/common.h"
#include "../common/shares.h"
#include "../common/ways.h"
#include "place.h"

/*
 * A record is a line of text with fields in fixed columns. Rodinia's fields are
 *
 *     1987  9 14 18 12 FLORENCE   30.4  88.1  115  932
 *
 * year, month, day, hour, number, name, latitude, longitude, wind speed, pressure.
 */
enum {
    RECORD_LENGTH = 49, /* with the newline */
    LATITUDE_AT = 27,   /* column, from 0 */
    LONGITUDE_AT = 33,
    COORDINATE_LENGTH = 5,
    WINDOW = 10, /* maximum of records in a launch, as in Rodinia */
    PATH_LIMIT = 1024
};

/* A search for the neighbours of a place. */
struct query {
    double latitude;
    double longitude;
    int neighbours; /* number of neighbours to find */
};

/* ---- records.c ---- */

/*
 * Writes @count records to a few files in @folder, and a list of the files, whose path @list
 * receives. The records depend only on @count. Returns 0, or -1 with a line on stderr.
 */
int make_records(const char *folder, int64_t count, char list[PATH_LIMIT]);

/* Removes the files of make_records(), and the folder. */
void remove_records(const char *folder);

/* A list of record files that is being read. */
struct records {
    const char *list_path;
    FILE *list;
    FILE *file;            /* current file; NULL: open the next file */
    char path[PATH_LIMIT]; /* path of the current file */
    int64_t line;          /* current line of the list */
    int64_t number;        /* number of the next record in the file, from 1 */
};

/* Opens a list of record files. Returns 0, or -1 with a line on stderr. */
int open_records(struct records *records, const char *list_path);
void close_records(struct records *records);

/*
 * Reads up to WINDOW records of one file, and their places. Returns their number, 0 at the end, or
 * -1 with file, record and cause on stderr.
 */
int read_window(struct records *records, char text[WINDOW][RECORD_LENGTH], struct place *places);

/* ---- nearest.c ---- */

struct neighbour {
    double squared; /* square of the distance */
    int64_t number; /* number of the record, from 0 through all files */
    char text[RECORD_LENGTH]; /* the record, with a NUL instead of its newline */
};

/* The nearest records found so far, in no order until sort_nearest(). */
struct nearest {
    int room;
    int count;
    int farthest; /* index of the farthest, which a nearer record replaces */
    struct neighbour *list;
};

/* Adds record @number if it is near enough. */
void offer(struct nearest *nearest, int64_t number, const char *text, double squared);

/* Sorts from the nearest to the farthest. */
void sort_nearest(struct nearest *nearest);

/* ---- all.c ---- */

/* All records, and the windows in which they were read. All zeros before read_all(). */
struct all {
    int64_t count, room;
    char (*text)[RECORD_LENGTH];
    struct place *places;
    double *squared; /* squares of the distances, one for each record */
    int64_t windows, window_room;
    int *window; /* number of records in each window */
};

/* Reads all records. Returns 0, or -1 with a line on stderr. Call free_all() in any case. */
int read_all(struct all *all, const char *list);
void free_all(struct all *all);

/* Calls offer() for each record. */
void offer_all(const struct all *all, struct nearest *nearest);

/* ---- offload.c ---- */

struct device_run {
    const struct settings *settings;
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: way to launch */
    int resident;     /* in: resident.c copies all records at once, not with each window */
    int64_t rounds;   /* in: number of times that devices.c computes all distances */
    double computing; /* out: seconds of devices.c's computation, without copies */
    int64_t records;  /* out */
    int64_t launches; /* out */
    double seconds;   /* out: time of launches and copies */
};

/* Searches the records of a list. Returns 0, or an error with a line on stderr. */
typedef int search_function(const char *list, const struct query *query, struct nearest *nearest,
                            struct device_run *run);
search_function search_on_device;

/* ---- resident.c ---- */

/* Does the work of search_on_device() in a queue or a graph. */
search_function search_resident;

/* ---- devices.c ---- */

/* Does the work of search_on_device() on several devices. */
search_function search_on_devices;

/* ---- serial.c ---- */

struct check {
    double seconds;
    int64_t records;
    int wrong; /* number of neighbours with a wrong distance, or that are not such a record */
};

/* Searches serially and compares with @nearest, which is sorted. Returns 0, or prints an error. */
int check_nearest(const char *list, const struct query *query, const struct nearest *nearest,
                  struct check *check);

/* ---- frame.c ---- */

/* Options of the command line that are not in the settings. */
struct request {
    struct query query;
    const char *list;     /* NULL: generate records */
    const char *generate; /* folder for generated records; NULL: a temporary folder */
    int64_t resident;     /* with --queue: copy all records at once */
    int64_t rounds;       /* with --devices: number of rounds of the computation */
};

void parse_request(struct settings *settings, struct request *request, int argc, char **argv);

/* Makes inputs, searches, checks, and prints the summary. Returns the exit status. */
int run_request(const struct settings *settings, const struct request *request,
                search_function *search);

#endif
