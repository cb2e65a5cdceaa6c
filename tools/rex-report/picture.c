/*
 * picture.c - draws how busy tracks were, as SVG.
 *
 * Each kind of work is one path of stacked bars, one unit wide for each bin. So the size of a
 * picture depends on the number of bins, not of events.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "figures.h"

#define HEIGHT 32 /* height of a track that is busy all of the time */
#define MOST_COLUMNS 1024
#define TICKS 5

const char *const busy_names[BUSY_KINDS] = {"kernels", "copies", "putting work in queues",
                                            "start and end"};

/* ---- columns --------------------------------------------------------------------------------- */

/* Returns the number of adjacent bins in one column of a picture of COUNT bins. */
static size_t bins_of_column(size_t count)
{
    return (count + MOST_COLUMNS - 1) / MOST_COLUMNS;
}

/*
 * Returns the height at which the bar of KIND ends, in the column of the COUNT bins from BIN on.
 * The bar stands on the bars of all lower kinds.
 */
static int height_at(const struct timeline *timeline, const struct track *track, size_t bin,
                     size_t count, int kind)
{
    double busy = 0, width = (double)count * (double)(UINT64_C(1) << timeline->shift);
    for (size_t i = bin; i < bin + count; i++)
        for (int below = 0; below <= kind; below++)
            busy += (double)track->bins[i][below];
    int height = (int)ceil(busy / width * HEIGHT - 1e-9);
    return height < HEIGHT ? height : HEIGHT;
}

/*
 * Writes a bar to the SVG path, from column BEGIN to column END, and from height LOW to height
 * HIGH.
 */
static void put_bar(FILE *out, size_t begin, size_t end, int low, int high)
{
    if (high > low)
        fprintf(out, "M%zu %dv-%dh%zuv%dz", begin, HEIGHT - low, high - low, end - begin,
                high - low);
}

static void put_path(FILE *out, const struct timeline *timeline, const struct track *track,
                     int kind)
{
    size_t first, count = timeline_bins(timeline, &first), step = bins_of_column(count);
    size_t begin = 0;
    int low = 0, high = 0;
    fprintf(out, "<path class=\"busy%d\" d=\"", kind);
    for (size_t at = 0; at < count; at += step) {
        size_t bins = at + step <= count ? step : count - at;
        int under = kind > 0 ? height_at(timeline, track, first + at, bins, kind - 1) : 0;
        int over = height_at(timeline, track, first + at, bins, kind);
        if (under == low && over == high)
            continue;
        put_bar(out, begin, at / step, low, high);
        begin = at / step;
        low = under;
        high = over;
    }
    put_bar(out, begin, (count + step - 1) / step, low, high);
    fputs("\"/>", out);
}

void picture_track(FILE *out, const struct timeline *timeline, const struct track *track,
                   const char *label)
{
    size_t first, count = timeline_bins(timeline, &first), step = bins_of_column(count);
    fprintf(out,
            "<svg class=\"track\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\">",
            (count + step - 1) / step, HEIGHT, label);
    for (int kind = 0; kind < BUSY_KINDS; kind++)
        if (track->total[kind] > 0)
            put_path(out, timeline, track, kind);
    fputs("</svg>", out);
}

/* ---- the axis -------------------------------------------------------------------------------- */

/* Returns a round number of nanoseconds that divides SPAN into at most TICKS parts. */
static uint64_t round_step(uint64_t span)
{
    uint64_t step = 1;
    static const uint64_t factors[] = {2, 5, 10};
    for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10)
        for (int i = 0; i < 3; i++) {
            if (span / step <= TICKS)
                return step;
            step = power * factors[i];
        }
    return step;
}

void picture_axis(FILE *out, const struct timeline *timeline)
{
    size_t first, count = timeline_bins(timeline, &first);
    uint64_t width = (uint64_t)count << timeline->shift;
    uint64_t before = timeline->span.begin & ((UINT64_C(1) << timeline->shift) - 1);
    uint64_t span = timeline->span.end - timeline->span.begin, step = round_step(span);
    for (uint64_t at = 0; at <= span && at <= step * (TICKS + 1); at += step) {
        char *time = figure_time(at);
        fprintf(out, "<span style=\"left:%.2f%%\">%s</span>",
                100.0 * (double)(before + at) / (double)width, at == 0 ? "0" : time);
        free(time);
    }
}
