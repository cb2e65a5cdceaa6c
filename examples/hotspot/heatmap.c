/*
 * heatmap.c - hotspot's picture: temperatures as colours, with a bar that says which colour is how warm.
 *
 * The colours are "inferno", a map made so that equal steps look equal, that is readable for colour-blind people and in
 * print, and that looks like heat. Built with -DHAVE_PNG and -lpng it writes a PNG, else a PPM, which needs no library.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PNG
#include <png.h>
#endif

#include "hotspot.h"

/* A pixel as PNG and PPM have it. */
struct colour {
    uint8_t red, green, blue;
};
_Static_assert(sizeof(struct colour) == 3, "pixels lie side by side");

struct picture {
    int width, height;
    struct colour *pixels;
};

/* Measures in pixels: the map's edge is between the first two, whatever the chip's size. */
enum {
    SMALLEST_MAP = 512,
    LARGEST_MAP = 1024,
    MARGIN = 16,
    BAR_WIDTH = 24,
    TICK = 6,
    TICKS = 5, /* labels on the bar */
    GLYPH_WIDTH = 5,
    GLYPH_HEIGHT = 7,
    TEXT_SCALE = 2,
    TEXT_WIDTH = 9, /* characters that a label may have */
    ADVANCE = (GLYPH_WIDTH + 1) * TEXT_SCALE,
    LABEL_LEFT = 6
};

static const struct colour background = {255, 255, 255};
static const struct colour ink = {40, 40, 40};

/* ---- colours ----------------------------------------------------------------------------------------------------- */

/* Ten samples of inferno, evenly spaced; straight lines between them are within what an eye can tell. */
static const struct colour inferno[] = {
    {0, 0, 4},     {27, 12, 66},   {75, 12, 107}, {120, 28, 109}, {165, 44, 96},
    {207, 68, 70}, {237, 105, 37}, {251, 154, 6}, {247, 208, 60}, {252, 255, 164},
};

static uint8_t between(uint8_t low, uint8_t high, double part)
{
    return (uint8_t)(low + (high - low) * part + 0.5);
}

/* @heat from 0, coldest, to 1, hottest; what is no number counts as coldest. */
static struct colour colour_of(double heat)
{
    heat = !(heat > 0.0) ? 0.0 : heat > 1.0 ? 1.0 : heat;
    const int last = (int)(sizeof inferno / sizeof inferno[0]) - 1;
    double place = heat * last;
    int low = (int)place < last ? (int)place : last - 1;
    const struct colour *a = &inferno[low], *b = &inferno[low + 1];
    double part = place - low;
    return (struct colour){between(a->red, b->red, part), between(a->green, b->green, part),
                           between(a->blue, b->blue, part)};
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void fill(struct picture *picture, int left, int top, int width, int height, struct colour colour)
{
    for (int y = top; y < top + height; y++)
        for (int x = left; x < left + width; x++)
            picture->pixels[(size_t)y * (size_t)picture->width + (size_t)x] = colour;
}

/* Rows of a glyph from the top, its leftmost pixel in bit 4. */
static const struct {
    char character;
    uint8_t rows[GLYPH_HEIGHT];
} glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},      {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {31, 2, 4, 2, 1, 17, 14}},     {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},       {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'e', {0, 0, 14, 17, 31, 16, 14}},
};

static const uint8_t *rows_of(char character)
{
    for (size_t i = 0; i < sizeof glyphs / sizeof glyphs[0]; i++)
        if (glyphs[i].character == character)
            return glyphs[i].rows;
    return NULL;
}

static void write_text(struct picture *picture, int left, int top, const char *text)
{
    for (; *text != '\0'; text++, left += ADVANCE) {
        const uint8_t *rows = rows_of(*text);
        for (int y = 0; rows != NULL && y < GLYPH_HEIGHT; y++)
            for (int x = 0; x < GLYPH_WIDTH; x++)
                if (rows[y] >> (GLYPH_WIDTH - 1 - x) & 1)
                    fill(picture, left + x * TEXT_SCALE, top + y * TEXT_SCALE, TEXT_SCALE, TEXT_SCALE, ink);
    }
}

static void draw_map(struct picture *picture, const double *temp, int64_t size, int edge, double low, double range)
{
    for (int y = 0; y < edge; y++)
        for (int x = 0; x < edge; x++) {
            double value = temp[y * size / edge * size + x * size / edge];
            fill(picture, MARGIN + x, MARGIN + y, 1, 1, colour_of((value - low) / range));
        }
}

static void draw_bar(struct picture *picture, int left, int edge, double low, double range)
{
    for (int y = 0; y < edge; y++)
        fill(picture, left, MARGIN + y, BAR_WIDTH, 1, colour_of(1.0 - (double)y / (edge - 1)));
    for (int tick = 0; tick < TICKS; tick++) {
        double heat = (double)tick / (TICKS - 1);
        int y = MARGIN + (int)((1.0 - heat) * (edge - 1));
        char label[32];
        snprintf(label, sizeof label, "%.6g", low + heat * range);
        label[TEXT_WIDTH] = '\0';
        fill(picture, left + BAR_WIDTH, y, TICK, 1, ink);
        /* Centred on its tick, and inside the picture at both ends, since half a glyph is less than the margin. */
        write_text(picture, left + BAR_WIDTH + TICK + LABEL_LEFT, y - GLYPH_HEIGHT * TEXT_SCALE / 2, label);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_PNG

const char *const heatmap_default_path = "hotspot.png";

static int write_picture(const char *path, const struct picture *picture)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)picture->width;
    image.height = (png_uint_32)picture->height;
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, path, 0, picture->pixels, 0, NULL) == 0) {
        fprintf(stderr, "hotspot: %s: %s\n", path, image.message);
        return -1;
    }
    return 0;
}

#else

const char *const heatmap_default_path = "hotspot.ppm";

static int write_picture(const char *path, const struct picture *picture)
{
    size_t count = (size_t)picture->width * (size_t)picture->height;
    FILE *file = fopen(path, "wb");
    int failed = file == NULL;
    if (!failed)
        failed = fprintf(file, "P6\n%d %d\n255\n", picture->width, picture->height) < 0 ||
                 fwrite(picture->pixels, sizeof *picture->pixels, count, file) != count;
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed) {
        fprintf(stderr, "hotspot: %s: %s\n", path, strerror(errno));
        return -1;
    }
    return 0;
}

#endif

/* ------------------------------------------------------------------------------------------------------------------ */

/* Edge of the map in pixels: a multiple of a small chip's size, so that its cells are squares of one size. */
static int map_edge(int64_t size)
{
    if (size >= SMALLEST_MAP)
        return (int)(size < LARGEST_MAP ? size : LARGEST_MAP);
    return (int)(size * ((SMALLEST_MAP + size - 1) / size));
}

static void extremes(const double *temp, size_t count, double *low, double *high)
{
    *low = *high = temp[0];
    for (size_t i = 1; i < count; i++) {
        *low = temp[i] < *low ? temp[i] : *low;
        *high = temp[i] > *high ? temp[i] : *high;
    }
}

int write_heatmap(const char *path, const double *temp, int64_t size)
{
    int edge = map_edge(size);
    int bar = MARGIN + edge + MARGIN;
    struct picture picture = {.width = bar + BAR_WIDTH + TICK + LABEL_LEFT + TEXT_WIDTH * ADVANCE + MARGIN,
                              .height = edge + 2 * MARGIN};
    picture.pixels = malloc((size_t)picture.width * (size_t)picture.height * sizeof *picture.pixels);
    if (picture.pixels == NULL) {
        fputs("hotspot: out of memory for the heat map\n", stderr);
        return -1;
    }
    double low, high;
    extremes(temp, (size_t)(size * size), &low, &high);
    double range = high > low ? high - low : 1.0; /* all the same: one colour, and no division by zero */

    fill(&picture, 0, 0, picture.width, picture.height, background);
    draw_map(&picture, temp, size, edge, low, range);
    draw_bar(&picture, bar, edge, low, range);
    int result = write_picture(path, &picture);
    free(picture.pixels);
    return result;
}
