/*
 * heatmap.c - hotspot's picture: temperatures as colours, with a bar that shows the temperature of
 * each colour.
 *
 * The colours are the map "inferno": equal steps look equal, also in print and to colour-blind
 * people, and the map looks like heat. Built with -DHAVE_PNG and -lpng the program writes a PNG,
 * else a PPM, which needs no library.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PNG
#include <png.h>
#endif

#include "drawing.h"
#include "hotspot.h"

/* Measures in pixels. For any chip the map's edge is between SMALLEST_MAP and LARGEST_MAP. */
enum {
    SMALLEST_MAP = 512,
    LARGEST_MAP = 1024,
    MARGIN = 16,
    BAR_WIDTH = 24,
    TICK = 6,
    MOST_TICKS = 6, /* labels on the bar */
    TEXT_WIDTH = 9, /* maximum of characters in a label */
    LABEL_LEFT = 6,
    LINE = TEXT_HEIGHT + 8
};

static const struct colour background = {255, 255, 255};

/* ---- colours --------------------------------------------------------------------------------- */

/* Ten evenly spaced samples of the map inferno. Colours between them are interpolated. */
static const struct colour inferno[] = {
    {0, 0, 4},     {27, 12, 66},   {75, 12, 107}, {120, 28, 109}, {165, 44, 96},
    {207, 68, 70}, {237, 105, 37}, {251, 154, 6}, {247, 208, 60}, {252, 255, 164},
};

static uint8_t between(uint8_t low, uint8_t high, double part)
{
    return (uint8_t)(low + (high - low) * part + 0.5);
}

/* Returns the colour of @heat, from 0, coldest, to 1, hottest. NaN counts as coldest. */
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

/* ---- drawing --------------------------------------------------------------------------------- */

static void draw_map(struct picture *picture, int top, const double *temp, int64_t size, int edge,
                     double low, double range)
{
    for (int y = 0; y < edge; y++)
        for (int x = 0; x < edge; x++) {
            double value = temp[y * size / edge * size + x * size / edge];
            draw_rectangle(picture, MARGIN + x, top + y, 1, 1, colour_of((value - low) / range));
        }
}

int64_t part_begin(int64_t size, int number, int parts)
{
    return size * number / parts;
}

/* Draws white lines between the parts of the chip, and around the chip. */
static void draw_frames(struct picture *picture, int top, int edge, const struct caption *caption)
{
    for (int i = 0; caption->parts_down > 0 && i <= caption->parts_down; i++)
        draw_rectangle(picture, MARGIN, top + (int)part_begin(edge - 1, i, caption->parts_down),
                       edge, 1, background);
    for (int i = 0; caption->parts_across > 0 && i <= caption->parts_across; i++)
        draw_rectangle(picture, MARGIN + (int)part_begin(edge - 1, i, caption->parts_across), top,
                       1, edge, background);
}

/* Returns a step of 1, 2 or 5 times a power of ten; at most MOST_TICKS - 1 steps fit in @range. */
static double tick_step(double range)
{
    double power = pow(10.0, floor(log10(range)) - 1.0);
    static const double factors[] = {1.0, 2.0, 5.0, 10.0, 20.0, 50.0};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        if (range / (power * factors[i]) <= MOST_TICKS - 1)
            return power * factors[i];
    return range;
}

/* Draws labels at round temperatures, with as many decimals as their step has. */
static void draw_ticks(struct picture *picture, int left, int top, int edge, double low,
                       double range)
{
    double step = tick_step(range), first = ceil(low / step);
    int digits = step < 1.0 ? (int)ceil(-log10(step) - 1e-9) : 0;
    for (int tick = 0; tick < MOST_TICKS && (first + tick) * step <= low + range; tick++) {
        double value = (first + tick) * step;
        int y = top + (int)((1.0 - (value - low) / range) * (edge - 1));
        char label[32];
        snprintf(label, sizeof label, "%.*f", digits < 9 ? digits : 9, value);
        label[TEXT_WIDTH] = '\0';
        draw_tick(picture, left, y, TICK);
        /* The label is centred on its tick; half a glyph fits in the margin. */
        draw_text(picture, left + TICK + LABEL_LEFT, y - TEXT_HEIGHT / 2, label);
    }
}

static void draw_bar(struct picture *picture, int left, int top, int edge, double low, double range)
{
    for (int y = 0; y < edge; y++)
        draw_rectangle(picture, left, top + y, BAR_WIDTH, 1,
                       colour_of(1.0 - (double)y / (edge - 1)));
    draw_ticks(picture, left + BAR_WIDTH, top, edge, low, range);
    draw_text(picture, left, top - LINE, "degrees");
}

/* ---- files ----------------------------------------------------------------------------------- */

#ifdef HAVE_PNG

const char *const heatmap_default_path = "hotspot.png";

const char *heatmap_path(const char *path, char *changed, size_t room)
{
    (void)changed;
    (void)room;
    return path;
}

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

const char *heatmap_path(const char *path, char *changed, size_t room)
{
    size_t length = strlen(path), stem = length - strlen(".png");
    if (length < strlen(".png") || strcmp(path + stem, ".png") != 0 || length >= room)
        return path;
    snprintf(changed, room, "%.*s.ppm", (int)stem, path);
    fprintf(stderr, "hotspot: built without libpng: the picture is a PPM, %s\n", changed);
    return changed;
}

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

/* ---------------------------------------------------------------------------------------------- */

/* Returns the map's edge in pixels: for a small chip a multiple of its size, so cells are equal. */
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

int write_heatmap(const char *path, const double *temp, int64_t size, const struct caption *caption)
{
    int edge = map_edge(size), top = MARGIN + 2 * LINE, bar = MARGIN + edge + MARGIN;
    struct picture picture = {.width = bar + BAR_WIDTH + TICK + LABEL_LEFT +
                                       TEXT_WIDTH * TEXT_ADVANCE + MARGIN,
                              .height = top + edge + MARGIN + 2 * LINE};
    picture.pixels =
        malloc((size_t)picture.width * (size_t)picture.height * sizeof *picture.pixels);
    if (picture.pixels == NULL) {
        fputs("hotspot: out of memory for the heat map\n", stderr);
        return -1;
    }
    double low, high;
    extremes(temp, (size_t)(size * size), &low, &high);
    double range = high > low ? high - low : 1.0; /* no division by zero */

    draw_rectangle(&picture, 0, 0, picture.width, picture.height, background);
    draw_text(&picture, MARGIN, MARGIN, caption->title);
    draw_map(&picture, top, temp, size, edge, low, range);
    draw_frames(&picture, top, edge, caption);
    draw_bar(&picture, bar, top, edge, low, range);
    for (int i = 0; i < 2; i++)
        draw_text(&picture, MARGIN, top + edge + MARGIN / 2 + i * LINE, caption->facts[i]);
    int result = write_picture(path, &picture);
    free(picture.pixels);
    return result;
}
