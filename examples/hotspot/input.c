/*
 * input.c - hotspot's input files: size x size lines, row by row, with one number in each. This is
 * the form of Rodinia's own temp_N and power_N, and of the file that --output writes.
 *
 * The reader refuses a file with a wrong line, or with too few or too many lines. Otherwise a wrong
 * file could make a picture that looks right.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot.h"

/* ---- reading --------------------------------------------------------------------------------- */

enum {
    LINE_LIMIT = 128, /* bytes of a line; no number is longer, but a binary file soon is */
    QUOTE_LIMIT = 30  /* maximum of characters of a wrong line in an error */
};

struct reader {
    FILE *file;
    const char *path;
    size_t line; /* number of the line in @text, from 1 */
    char text[LINE_LIMIT];
    size_t length;
};

enum line {
    LINE_READ,
    LINE_END, /* end of the file */
    LINE_BAD  /* wrong line; the error is printed */
};

static int wrong_line(const struct reader *reader, const char *what)
{
    char shown[QUOTE_LIMIT + 1];
    size_t length = reader->length < QUOTE_LIMIT ? reader->length : QUOTE_LIMIT;
    for (size_t i = 0; i < length; i++)
        shown[i] = isprint((unsigned char)reader->text[i]) ? reader->text[i] : '?';
    shown[length] = '\0';
    fprintf(stderr, "hotspot: %s:%zu: \"%s%s\" %s\n", reader->path, reader->line, shown,
            reader->length > QUOTE_LIMIT ? "..." : "", what);
    return -1;
}

/* Reads the next line, without the white space at its end. */
static enum line next_line(struct reader *reader)
{
    int c;
    reader->length = 0;
    reader->line++;
    while ((c = getc(reader->file)) != EOF && c != '\n') {
        if (reader->length == LINE_LIMIT - 1) {
            wrong_line(reader, "is too long for a number");
            return LINE_BAD;
        }
        reader->text[reader->length++] = (char)c;
    }
    if (ferror(reader->file)) {
        fprintf(stderr, "hotspot: %s:%zu: %s\n", reader->path, reader->line, strerror(errno));
        return LINE_BAD;
    }
    if (c == EOF && reader->length == 0)
        return LINE_END;
    while (reader->length > 0 && isspace((unsigned char)reader->text[reader->length - 1]))
        reader->length--;
    reader->text[reader->length] = '\0';
    return LINE_READ;
}

static int parse_value(const struct reader *reader, double *value)
{
    char *end;
    *value = strtod(reader->text, &end);
    if (end == reader->text)
        return wrong_line(reader, "is not a number");
    /* Compares the length, because a NUL byte in a text file is garbage, too. */
    if (end != reader->text + reader->length)
        return wrong_line(reader, "has more text after the number");
    if (!isfinite(*value))
        return wrong_line(reader, "is not a finite number");
    return 0;
}

static int read_all(struct reader *reader, double *values, size_t count)
{
    size_t got = 0;
    enum line state;
    while ((state = next_line(reader)) == LINE_READ) {
        if (reader->length == 0 && got == count)
            continue; /* empty lines at the end are allowed */
        if (got == count) {
            fprintf(stderr, "hotspot: %s:%zu: more than %zu values\n", reader->path, reader->line,
                    count);
            return -1;
        }
        if (parse_value(reader, &values[got]) != 0)
            return -1;
        got++;
    }
    if (state == LINE_BAD)
        return -1;
    if (got < count) {
        fprintf(stderr, "hotspot: %s:%zu: the file ends after %zu values, %zu are needed\n",
                reader->path, reader->line, got, count);
        return -1;
    }
    return 0;
}

int read_values(const char *path, double *values, size_t count)
{
    struct reader reader = {.file = fopen(path, "r"), .path = path};
    if (reader.file == NULL) {
        fprintf(stderr, "hotspot: %s: %s\n", path, strerror(errno));
        return -1;
    }
    int result = read_all(&reader, values, count);
    fclose(reader.file);
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

int write_values(const char *path, const double *values, size_t count)
{
    FILE *file = fopen(path, "w");
    int failed = file == NULL;
    /* With 17 digits a double is read back exactly. */
    for (size_t i = 0; i < count && !failed; i++)
        failed = fprintf(file, "%.17g\n", values[i]) < 0;
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed) {
        fprintf(stderr, "hotspot: %s: %s\n", path, strerror(errno));
        return -1;
    }
    return 0;
}

/* ---- generating ------------------------------------------------------------------------------ */

/* A unit of the generated processor, in fractions of the chip's edge and of the highest power. */
struct unit {
    double left, top, width, height;
    double load;
};

static const struct unit floor_plan[] = {
    {0.00, 0.00, 1.00, 1.00, 0.04}, /* the whole chip; later units lie over it */
    {0.06, 0.06, 0.40, 0.36, 0.22}, /* four cores */
    {0.54, 0.06, 0.40, 0.36, 0.22}, {0.06, 0.58, 0.40, 0.36, 0.16}, {0.54, 0.58, 0.40, 0.36, 0.10},
    {0.10, 0.10, 0.13, 0.12, 1.00}, /* their floating-point units */
    {0.77, 0.10, 0.13, 0.12, 0.85}, {0.10, 0.78, 0.13, 0.12, 0.65}, {0.77, 0.78, 0.13, 0.12, 0.35},
    {0.27, 0.10, 0.15, 0.05, 0.60}, /* integer units */
    {0.58, 0.10, 0.15, 0.05, 0.55}, {0.27, 0.85, 0.15, 0.05, 0.45}, {0.58, 0.85, 0.15, 0.05, 0.30},
    {0.27, 0.20, 0.16, 0.18, 0.12}, /* first-level caches */
    {0.57, 0.20, 0.16, 0.18, 0.12}, {0.27, 0.62, 0.16, 0.18, 0.10}, {0.57, 0.62, 0.16, 0.18, 0.08},
    {0.06, 0.46, 0.40, 0.08, 0.14}, /* second-level cache, the bus, and memory controllers */
    {0.46, 0.06, 0.08, 0.88, 0.30}, {0.54, 0.46, 0.40, 0.08, 0.14}, {0.95, 0.10, 0.04, 0.80, 0.48},
};

static double load_at(double x, double y)
{
    double load = 0.0;
    for (size_t i = 0; i < sizeof floor_plan / sizeof floor_plan[0]; i++) {
        const struct unit *unit = &floor_plan[i];
        if (x >= unit->left && x < unit->left + unit->width && y >= unit->top &&
            y < unit->top + unit->height)
            load = unit->load;
    }
    return load;
}

/* Returns the first temperature at a place: at most half a degree above the surroundings. */
static double warmth_at(double x, double y)
{
    double dx = x - 0.7, dy = y - 0.3;
    return AMBIENT + 0.5 / (1.0 + 4.0 * (dx * dx + dy * dy));
}

void generate_part(const struct chip *chip, const struct rectangle *part, double *temp,
                   double *power)
{
    double edge = (double)chip->size;
    for (int64_t row = 0; row < part->rows; row++) {
        uint64_t random = 2024;
        skip_random(&random, (uint64_t)((part->top + row) * chip->size + part->left));
        for (int64_t column = 0; column < part->columns; column++) {
            double x = ((double)(part->left + column) + 0.5) / edge,
                   y = ((double)(part->top + row) + 0.5) / edge;
            int64_t cell = row * part->columns + column;
            double load = load_at(x, y) * (0.9 + 0.2 * next_fraction(&random));
            temp[cell] = warmth_at(x, y);
            power[cell] = load * MAX_POWER_DENSITY * chip->cell_area;
        }
    }
}

void generate(const struct chip *chip, double *temp, double *power)
{
    struct rectangle whole = {.rows = chip->size, .columns = chip->size};
    generate_part(chip, &whole, temp, power);
}
