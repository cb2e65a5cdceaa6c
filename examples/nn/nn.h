/*
 * nn.h - what the parts of nn share.
 *
 *   nn.c        main.
 *   offload.c   the device run: the one to read for offloading.
 *   resident.c  the same with all records on the device, for --queue and --graph.
 *   devices.c   the same on several devices, for --devices.
 *   all.c       all records of a list, for these two.
 *   kernels.cu  the device side.
 *   serial.c    the reference for the check.
 *   place.h     where a record is, for both sides.
 *   records.c   record files in Rodinia's format: made up, and read window by window.
 *   nearest.c   the records that are nearest so far.
 *   frame.c     options, inputs, the check, the summary.
 *
 * The last five are part of examples/nn_raw as well.
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
 * A record is a line of text, its fields in fixed places; these are Rodinia's:
 *
 *     1987  9 14 18 12 FLORENCE   30.4  88.1  115  932
 *
 * year, month, day, hour, number, name, latitude, longitude, wind speed, pressure.
 */
enum {
    RECORD_LENGTH = 49, /* with the newline */
    LATITUDE_AT = 27,   /* from 0 */
    LONGITUDE_AT = 33,
    COORDINATE_LENGTH = 5,
    WINDOW = 10, /* most records of a launch, Rodinia's number */
    PATH_LIMIT = 1024
};

/* The place to search near. */
struct query {
    double latitude;
    double longitude;
    int neighbours; /* how many */
};

/* ---- records.c ---- */

/*
 * Writes @count records to a few files in @folder, and a list of these, whose name @list receives.
 * The same for the same count every time. 0, or -1 with a line on stderr.
 */
int make_records(const char *folder, int64_t count, char list[PATH_LIMIT]);

/* Removes what make_records() wrote, and the folder. */
void remove_records(const char *folder);

/* A list of record files that is being read. */
struct records {
    const char *list_path;
    FILE *list;
    FILE *file;            /* NULL: the next one has to be opened */
    char path[PATH_LIMIT]; /* its name */
    int64_t line;          /* of the list */
    int64_t number;        /* of the next record in the file, from 1 */
};

/* 0, or -1 with a line on stderr. */
int open_records(struct records *records, const char *list_path);
void close_records(struct records *records);

/*
 * Up to WINDOW records of one file, with their places. Returns their number, 0 at the end, or -1
 * with a line on stderr that names file, record and cause.
 */
int read_window(struct records *records, char text[WINDOW][RECORD_LENGTH], struct place *places);

/* ---- nearest.c ---- */

struct neighbour {
    double squared; /* distance */
    int64_t number; /* of the record, counted from 0 through all files */
    char text[RECORD_LENGTH]; /* the record; a 0 in place of its newline */
};

/* The nearest so far, in no order. */
struct nearest {
    int room;
    int count;
    int farthest; /* which one has to go for a nearer one */
    struct neighbour *list;
};

/* Considers record @number. */
void offer(struct nearest *nearest, int64_t number, const char *text, double squared);

/* From the nearest to the farthest. */
void sort_nearest(struct nearest *nearest);

/* ---- all.c ---- */

/* All records, and the windows in which they were read. Zeros before the first call. */
struct all {
    int64_t count, room;
    char (*text)[RECORD_LENGTH];
    struct place *places;
    double *squared; /* for the distances: as much room */
    int64_t windows, window_room;
    int *window; /* records in each */
};

/* 0, or -1 with a line on stderr. free_all() in any case. */
int read_all(struct all *all, const char *list);
void free_all(struct all *all);

/* Considers each of them. */
void offer_all(const struct all *all, struct nearest *nearest);

/* ---- offload.c ---- */

struct device_run {
    const struct settings *settings;
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: how to launch */
    int resident;     /* in: resident.c copies all records at once, and not with each window */
    int64_t rounds;   /* in: devices.c computes all distances so often */
    double computing; /* out: its seconds for that, without copies */
    int64_t records;  /* out */
    int64_t launches; /* out */
    double seconds;   /* out: launches and copies */
};

/* Searches the records of a list. 0, or -1 with a line on stderr. */
typedef int search_function(const char *list, const struct query *query, struct nearest *nearest,
                            struct device_run *run);
search_function search_on_device;

/* ---- resident.c ---- */

/* As search_on_device(), in a queue or a graph. */
search_function search_resident;

/* ---- devices.c ---- */

/* Likewise, on several devices. */
search_function search_on_devices;

/* ---- serial.c ---- */

struct check {
    double seconds;
    int64_t records;
    int wrong; /* neighbours that are not where the serial run has them, or are no such record */
};

/* Searches again and compares with @nearest, which is sorted. 0, or -1 with a line on stderr. */
int check_nearest(const char *list, const struct query *query, const struct nearest *nearest,
                  struct check *check);

/* ---- frame.c ---- */

/* Options of the command line beside the settings. */
struct request {
    struct query query;
    const char *list;     /* NULL: records are made up */
    const char *generate; /* folder for those; NULL: a temporary one */
    int64_t resident;     /* with --queue: the records are copied once, for all windows */
    int64_t rounds;       /* with --devices: of the computation */
};

void parse_request(struct settings *settings, struct request *request, int argc, char **argv);

/* The program after its initialisation: inputs, search, check, summary. Returns the exit status. */
int run_request(const struct settings *settings, const struct request *request,
                search_function *search);

#endif
