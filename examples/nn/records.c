/*
 * records.c - record files in the format of Rodinia's nearest neighbours: see nn.h. A list names
 * the files, one a line, relative to the current directory.
 *
 * The reader stops at a wrong record. Otherwise records of another length would have coordinates
 * from wrong columns.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn.h"

enum {
    FILES = 4 /* number of files of generated records */
};

static int failed(const char *path)
{
    fprintf(stderr, "nn: %s: %s\n", path, strerror(errno));
    return -1;
}

/* ---- generated records ----------------------------------------------------------------------- */

static int whole_number(uint64_t *random, int least, int most)
{
    return least + (int)(next_random(random) % (uint64_t)(most - least + 1));
}

static int write_record(FILE *file, uint64_t *random)
{
    static const char *const names[] = {
        "ALBERTO", "BERYL", "CHRIS",  "DEBBY", "ERNESTO", "FLORENCE", "GORDON",
        "HELENE",  "ISAAC", "JOYCE",  "KEITH", "LESLIE",  "MICHAEL",  "NADINE",
        "OSCAR",   "PATTY", "RAFAEL", "SANDY", "TONY",    "VALERIE",  "WILLIAM"};
    int year = whole_number(random, 1950, 2004), month = whole_number(random, 1, 12),
        day = whole_number(random, 1, 28);
    int hour = 6 * whole_number(random, 0, 3), number = whole_number(random, 1, 28);
    const char *name = names[next_random(random) % (sizeof names / sizeof names[0])];
    double latitude = whole_number(random, 70, 699) / 10.0,
           longitude = whole_number(random, 0, 3589) / 10.0;
    int speed = whole_number(random, 10, 164), pressure = whole_number(random, 0, 899);
    return fprintf(file, "%4d %2d %2d %2d %2d %-9s %5.1f %5.1f %4d %4d\n", year, month, day, hour,
                   number, name, latitude, longitude, speed, pressure) == RECORD_LENGTH;
}

static void path_of(char path[PATH_LIMIT], const char *folder, int which)
{
    snprintf(path, PATH_LIMIT, "%s/cane%d_%d.db", folder, FILES, which);
}

static int write_file(const char *path, int64_t count, uint64_t *random)
{
    FILE *file = fopen(path, "w");
    int good = file != NULL;
    for (int64_t i = 0; i < count && good; i++)
        good = write_record(file, random);
    if (file != NULL && fclose(file) != 0)
        good = 0;
    return good ? 0 : failed(path);
}

/* Writes the record files, and their names to @list. */
static int write_files(FILE *list, const char *folder, int64_t count)
{
    uint64_t random = 1;
    int result = 0;
    for (int which = 0; which < FILES && result == 0; which++) {
        char path[PATH_LIMIT];
        path_of(path, folder, which);
        result = write_file(path, count / FILES + (which < count % FILES), &random);
        if (result == 0 && fprintf(list, "%s\n", path) < 0)
            result = failed("the list of record files");
    }
    return result;
}

static int list_path(char path[PATH_LIMIT], const char *folder)
{
    if (snprintf(path, PATH_LIMIT, "%s/filelist_%d", folder, FILES) <
        PATH_LIMIT - 8) /* leaves room for the longer names of record files */
        return 0;
    fprintf(stderr, "nn: %s: the folder's name is too long\n", folder);
    return -1;
}

int make_records(const char *folder, int64_t count, char list[PATH_LIMIT])
{
    if (list_path(list, folder) != 0)
        return -1;
    FILE *file = fopen(list, "w");
    if (file == NULL)
        return failed(list);
    int result = write_files(file, folder, count);
    if (fclose(file) != 0 && result == 0)
        result = failed(list);
    return result;
}

void remove_records(const char *folder)
{
    char path[PATH_LIMIT];
    for (int which = 0; which < FILES; which++) {
        path_of(path, folder, which);
        unlink(path);
    }
    if (list_path(path, folder) == 0)
        unlink(path);
    rmdir(folder);
}

/* ---- reading --------------------------------------------------------------------------------- */

int open_records(struct records *records, const char *path)
{
    *records = (struct records){.list_path = path, .list = fopen(path, "r")};
    return records->list != NULL ? 0 : failed(path);
}

void close_records(struct records *records)
{
    if (records->file != NULL)
        fclose(records->file);
    if (records->list != NULL)
        fclose(records->list);
    records->file = records->list = NULL;
}

static int wrong_record(const struct records *records, const char *what)
{
    fprintf(stderr, "nn: %s: record %lld %s\n", records->path, (long long)records->number, what);
    return -1;
}

/* Opens the list's next file, and skips empty lines. Returns 1, 0 at the list's end, or -1. */
static int next_file(struct records *records)
{
    size_t length = 0;
    while (length == 0) {
        if (fgets(records->path, sizeof records->path, records->list) == NULL)
            return ferror(records->list) ? failed(records->list_path) : 0;
        records->line++;
        length = strcspn(records->path, "\r\n");
        if (length == sizeof records->path - 1) {
            fprintf(stderr, "nn: %s:%lld: is too long for a file's name\n", records->list_path,
                    (long long)records->line);
            return -1;
        }
        records->path[length] = '\0';
    }
    records->number = 1;
    records->file = fopen(records->path, "r");
    if (records->file != NULL)
        return 1;
    fprintf(stderr, "nn: %s:%lld: %s: %s\n", records->list_path, (long long)records->line,
            records->path, strerror(errno));
    return -1;
}

/* Reads a number from a field of fixed width. Returns 0 or -1. */
static int read_field(const char *field, double *value)
{
    char text[COORDINATE_LENGTH + 1], *end;
    memcpy(text, field, COORDINATE_LENGTH);
    text[COORDINATE_LENGTH] = '\0';
    if (strspn(text, " +-.0123456789") != COORDINATE_LENGTH)
        return -1;
    *value = strtod(text, &end);
    return end != text && end[strspn(end, " ")] == '\0' ? 0 : -1;
}

static int read_place(const struct records *records, const char *text, struct place *place)
{
    if (text[RECORD_LENGTH - 1] != '\n' || memchr(text, '\n', RECORD_LENGTH - 1) != NULL)
        return wrong_record(records, "is not a line of 48 characters");
    if (read_field(text + LATITUDE_AT, &place->latitude) != 0)
        return wrong_record(records, "has no latitude in columns 28 to 32");
    if (read_field(text + LONGITUDE_AT, &place->longitude) != 0)
        return wrong_record(records, "has no longitude in columns 34 to 38");
    return 0;
}

static void close_file(struct records *records)
{
    fclose(records->file);
    records->file = NULL;
}

/* Reads at most one window of one file. Returns the number of bytes, 0 at the end, or -1. */
static int read_bytes(struct records *records, char *text)
{
    size_t bytes = 0;
    while (bytes == 0) {
        int opened = records->file != NULL ? 1 : next_file(records);
        if (opened <= 0)
            return opened;
        bytes = fread(text, 1, (size_t)WINDOW * RECORD_LENGTH, records->file);
        if (ferror(records->file))
            return failed(records->path);
        if (bytes == 0)
            close_file(records);
    }
    return (int)bytes;
}

int read_window(struct records *records, char text[WINDOW][RECORD_LENGTH], struct place *places)
{
    int bytes = read_bytes(records, text[0]);
    if (bytes <= 0)
        return bytes;
    int count = bytes / RECORD_LENGTH;
    for (int i = 0; i < count; i++, records->number++)
        if (read_place(records, text[i], &places[i]) != 0)
            return -1;
    if (bytes % RECORD_LENGTH != 0)
        return wrong_record(records, "is cut short: a record has 49 characters");
    return count;
}
