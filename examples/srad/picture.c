/*
 * picture.c - srad's pictures: PGM files (netpbm's "portable greymap"), and a generated picture.
 *
 * The reader checks the header: numbers have limits, and the number of pixels must be right.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "srad.h"

enum {
    MOST_WHITE = 65535, /* netpbm's limit */
    MAGIC_PLAIN = '2',
    MAGIC_RAW = '5'
};

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    FILE *file;
    const char *path;
};

static int wrong(const struct reader *reader, const char *what)
{
    fprintf(stderr, "srad: %s: %s\n", reader->path, what);
    return -1;
}

/* Reports wrong input: a read error, the end of the file, or a text that is not @what. */
static int wrong_input(const struct reader *reader, const char *what)
{
    char message[128];
    if (ferror(reader->file))
        return wrong(reader, strerror(errno));
    snprintf(message, sizeof message, "%s%s", feof(reader->file) ? "the file ends early: " : "",
             what);
    return wrong(reader, message);
}

/* Returns the next character that is neither white space nor in a comment. */
static int next_visible(struct reader *reader)
{
    int c;
    while ((c = getc(reader->file)) != EOF && (isspace(c) || c == '#'))
        if (c == '#')
            while ((c = getc(reader->file)) != EOF && c != '\n')
                ;
    return c;
}

/* Reads a number from 0 to @most and the character after it. @what names the number in errors. */
static int read_number(struct reader *reader, int most, const char *what, int *number)
{
    char message[96];
    int value = 0, c = next_visible(reader);
    snprintf(message, sizeof message, "%s should be a number from 0 to %d", what, most);
    if (!isdigit(c))
        return wrong_input(reader, message);
    for (; isdigit(c); c = getc(reader->file)) {
        value = 10 * value + (c - '0');
        if (value > most)
            return wrong(reader, message);
    }
    if (c != EOF && !isspace(c) && c != '#')
        return wrong(reader, message);
    if (c == '#')
        ungetc(c, reader->file);
    *number = value;
    return 0;
}

/* Returns the kind of file, '2' or '5', or -1. */
static int read_header(struct reader *reader, struct picture *picture)
{
    int columns = 0, rows = 0;
    int p = getc(reader->file), kind = p == 'P' ? getc(reader->file) : EOF;
    if (kind != MAGIC_PLAIN && kind != MAGIC_RAW)
        return wrong_input(reader, "not a PGM picture: it should begin with P2 or P5");
    if (read_number(reader, LARGEST_EDGE, "the width", &columns) != 0 ||
        read_number(reader, LARGEST_EDGE, "the height", &rows) != 0 ||
        read_number(reader, MOST_WHITE, "the value of white", &picture->white) != 0)
        return -1;
    if (columns == 0 || rows == 0)
        return wrong(reader, "the picture is without pixels");
    if (picture->white == 0)
        return wrong(reader, "the value of white is 0");
    picture->rows = rows;
    picture->columns = columns;
    return kind;
}

/* Reads a pixel of a raw file: one byte, or two if white needs two, the higher byte first. */
static int read_raw_pixel(struct reader *reader, const struct picture *picture, int *value)
{
    int high = picture->white > 255 ? getc(reader->file) : 0, low = getc(reader->file);
    if (high == EOF || low == EOF)
        return wrong_input(reader, "fewer pixels than in its header");
    *value = 256 * high + low;
    return *value <= picture->white ? 0 : wrong(reader, "a pixel is brighter than white");
}

static int read_pixels(struct reader *reader, struct picture *picture, int kind)
{
    int64_t pixels = picture->rows * picture->columns;
    for (int64_t i = 0; i < pixels; i++) {
        int value = 0;
        int result = kind == MAGIC_RAW ? read_raw_pixel(reader, picture, &value)
                                       : read_number(reader, picture->white, "a pixel", &value);
        if (result != 0)
            return -1;
        picture->grey[i] = (uint16_t)value;
    }
    /* netpbm allows white space after the pixels. Other data means that the header is wrong. */
    int c;
    while ((c = getc(reader->file)) != EOF)
        if (!isspace(c))
            return wrong(reader, "more pixels than in its header");
    return ferror(reader->file) ? wrong_input(reader, "") : 0;
}

static int allocate(struct picture *picture)
{
    picture->grey = malloc((size_t)(picture->rows * picture->columns) * sizeof *picture->grey);
    if (picture->grey == NULL)
        fprintf(stderr, "srad: out of memory for %lld x %lld pixels\n", (long long)picture->columns,
                (long long)picture->rows);
    return picture->grey != NULL ? 0 : -1;
}

int read_picture(const char *path, struct picture *picture)
{
    struct reader reader = {.file = fopen(path, "rb"), .path = path};
    picture->grey = NULL;
    if (reader.file == NULL) {
        fprintf(stderr, "srad: %s: %s\n", path, strerror(errno));
        return -1;
    }
    int kind = read_header(&reader, picture);
    int result = kind < 0 || allocate(picture) != 0 ? -1 : read_pixels(&reader, picture, kind);
    fclose(reader.file);
    if (result != 0) {
        free(picture->grey);
        picture->grey = NULL;
    }
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

int write_picture(const char *path, const struct picture *picture)
{
    FILE *file = fopen(path, "wb");
    int64_t pixels = picture->rows * picture->columns;
    int failed = file == NULL || fprintf(file, "P5\n%lld %lld\n%d\n", (long long)picture->columns,
                                         (long long)picture->rows, picture->white) < 0;
    for (int64_t i = 0; i < pixels && !failed; i++) {
        if (picture->white > 255)
            failed = putc(picture->grey[i] >> 8, file) == EOF;
        failed = failed || putc(picture->grey[i] & 0xff, file) == EOF;
    }
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed)
        fprintf(stderr, "srad: %s: %s\n", path, strerror(errno));
    return failed ? -1 : 0;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Returns the brightness, 0 to 1, of a scene without speckle: two discs and three bars on grey. */
static double scene_at(double x, double y)
{
    double to_first = (x - 0.7) * (x - 0.7) + (y - 0.3) * (y - 0.3);
    double to_second = (x - 0.3) * (x - 0.3) + (y - 0.75) * (y - 0.75);
    if (to_first < 0.04)
        return to_first < 0.01 ? 0.2 : 0.75;
    if (to_second < 0.03)
        return 0.15;
    if (x > 0.6 && y > 0.65 && y < 0.95 && (int)(x * 40.0) % 5 < 2)
        return 0.8;
    return 0.45;
}

int draw_picture(struct picture *picture, int64_t size)
{
    uint64_t random = 2024;
    *picture = (struct picture){.rows = size, .columns = size, .white = 255};
    if (allocate(picture) != 0)
        return -1;
    for (int64_t row = 0; row < size; row++)
        for (int64_t column = 0; column < size; column++) {
            double x = ((double)column + 0.5) / (double)size,
                   y = ((double)row + 0.5) / (double)size;
            /* Noise is a factor; a sum of four uniform numbers is nearly normal, 0.115 wide. */
            double noise = 0.0;
            for (int i = 0; i < 4; i++)
                noise += 0.2 * (next_fraction(&random) - 0.5);
            double grey = 255.0 * scene_at(x, y) * (1.0 + noise);
            picture->grey[row * size + column] = (uint16_t)fmin(fmax(round(grey), 0.0), 255.0);
        }
    return 0;
}
