/*
 * timeline.c - counts how busy each track was over time, in bounded memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define RECENT 256 /* number of slices that are kept for each track, the latest ones */

void timeline_begin(struct timeline *timeline)
{
    *timeline = (struct timeline){.span = {UINT64_MAX, 0}};
}

void timeline_end(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        free(timeline->tracks[i].name);
        free(timeline->tracks[i].bins);
        free(timeline->tracks[i].recent);
    }
    free(timeline->tracks);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static struct track *add_track(struct timeline *timeline, const struct event *event)
{
    timeline->tracks = tool_grow(timeline->tracks, timeline->count, sizeof *timeline->tracks);
    struct track *track = &timeline->tracks[timeline->count++];
    *track = (struct track){.sort = event->track, .id = event->id};
    track->bins = tool_alloc(BINS, sizeof *track->bins);
    track->recent = tool_alloc(RECENT, sizeof *track->recent);
    return track;
}

/* Returns the track of EVENT, or NULL if the timeline already has MOST_TRACKS other tracks. */
static struct track *find_track(struct timeline *timeline, const struct event *event)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (timeline->tracks[i].id == event->id)
            return &timeline->tracks[i];
    if (timeline->count < MOST_TRACKS)
        return add_track(timeline, event);
    timeline->left_out += event->kind == EVENT_TRACK;
    return NULL;
}

static void name_track(struct track *track, const char *name)
{
    free(track->name);
    track->name = tool_format("%s", name);
}

uint64_t track_busy(const struct track *track)
{
    uint64_t busy = 0;
    for (int kind = 0; kind < BUSY_KINDS; kind++)
        busy += track->total[kind];
    return busy;
}

static int compare(const void *one, const void *other)
{
    const struct track *a = one, *b = other;
    if (a->sort != b->sort)
        return a->sort < b->sort ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void timeline_sort(struct timeline *timeline)
{
    if (timeline->count > 0)
        qsort(timeline->tracks, timeline->count, sizeof *timeline->tracks, compare);
}

/* ---- bins ------------------------------------------------------------------------------------ */

/*
 * Moves the times in the bins of TRACK to the timeline's new bins. The old bins were 1 << SHIFT
 * nanoseconds wide, and began with bin FIRST.
 */
static void rebin(const struct timeline *timeline, struct track *track, unsigned shift,
                  uint64_t first)
{
    uint64_t(*bins)[BUSY_KINDS] = tool_alloc(BINS, sizeof *bins);
    for (uint64_t i = 0; i < BINS; i++) {
        uint64_t to = ((first + i) >> (timeline->shift - shift)) - timeline->first_bin;
        for (int kind = 0; to < BINS && kind < BUSY_KINDS; kind++)
            bins[to][kind] += track->bins[i][kind];
    }
    free(track->bins);
    track->bins = bins;
}

/* Returns true if the bins cover the whole span of the timeline. */
static bool fits(const struct timeline *timeline)
{
    const struct span *span = &timeline->span;
    return span->begin >> timeline->shift >= timeline->first_bin &&
           (span->end >> timeline->shift) - timeline->first_bin < BINS;
}

/*
 * Makes the bins cover the span, which has grown. Leaves at least a quarter of the bins free on the
 * side to which the span grew, so that the bins seldom change.
 */
static void widen(struct timeline *timeline)
{
    unsigned shift = timeline->shift;
    uint64_t first = timeline->first_bin;
    const struct span *span = &timeline->span;
    bool to_left = span->begin >> shift < first;
    while ((span->end >> timeline->shift) - (span->begin >> timeline->shift) >= BINS / 2)
        timeline->shift++;
    timeline->first_bin = span->begin >> timeline->shift;
    if (to_left)
        timeline->first_bin -= timeline->first_bin < BINS / 4 ? timeline->first_bin : BINS / 4;
    for (size_t i = 0; i < timeline->count; i++)
        rebin(timeline, &timeline->tracks[i], shift, first);
}

static void include(struct timeline *timeline, struct span span)
{
    bool is_first = timeline->span.begin > timeline->span.end;
    if (span.begin < timeline->span.begin)
        timeline->span.begin = span.begin;
    if (span.end > timeline->span.end)
        timeline->span.end = span.end;
    if (is_first)
        timeline->first_bin = span.begin >> timeline->shift;
    if (!fits(timeline))
        widen(timeline);
}

static void fill(const struct timeline *timeline, struct track *track, enum busy kind,
                 struct span span)
{
    while (span.begin < span.end) {
        uint64_t bin = span.begin >> timeline->shift, next = (bin + 1) << timeline->shift;
        uint64_t end = next < span.end ? next : span.end;
        track->bins[bin - timeline->first_bin][kind] += end - span.begin;
        track->total[kind] += end - span.begin;
        span.begin = end;
    }
}

size_t timeline_bins(const struct timeline *timeline, size_t *first)
{
    if (timeline->span.begin > timeline->span.end)
        return *first = 0;
    *first = (size_t)((timeline->span.begin >> timeline->shift) - timeline->first_bin);
    return (size_t)((timeline->span.end >> timeline->shift) -
                    (timeline->span.begin >> timeline->shift) + 1);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static enum busy busy_of(const struct event *event)
{
    switch (event->kind) {
    case EVENT_LAUNCH: return BUSY_KERNEL;
    case EVENT_DATA: return BUSY_DATA;
    case EVENT_QUEUED: return BUSY_QUEUE;
    case EVENT_DONE: return event->is_kernel ? BUSY_KERNEL : BUSY_DATA;
    default: return BUSY_START;
    }
}

static struct span *recent(struct track *track, size_t at)
{
    return &track->recent[(track->first + at) % RECENT];
}

static void remember(struct track *track, struct span span)
{
    if (track->count == RECENT) {
        track->first = (track->first + 1) % RECENT;
        track->count--;
    }
    *recent(track, track->count++) = span;
}

/*
 * Adds SPAN, a slice that has ended, to the times of TRACK. Slices inside SPAN ended earlier, and
 * are counted already. So the function adds only the gaps between these slices.
 */
static void add_span(const struct timeline *timeline, struct track *track, enum busy kind,
                     struct span span)
{
    uint64_t end = span.end;
    for (; track->count > 0 && recent(track, track->count - 1)->begin >= span.begin;
         track->count--) {
        const struct span *inner = recent(track, track->count - 1);
        if (inner->end < end)
            fill(timeline, track, kind, (struct span){inner->end, end});
        end = inner->begin < end ? inner->begin : end;
    }
    uint64_t begin = span.begin;
    if (track->count > 0 && recent(track, track->count - 1)->end > begin)
        /* Different clocks, and rounding, can make two spans overlap. */
        begin = recent(track, track->count - 1)->end;
    fill(timeline, track, kind, (struct span){begin, end});
    remember(track, span);
}

void timeline_add(struct timeline *timeline, const struct event *event)
{
    if (event->kind == EVENT_PROCESS)
        return;
    struct track *track = find_track(timeline, event);
    if (track == NULL)
        return;
    if (event->kind == EVENT_TRACK) {
        name_track(track, event->name);
        return;
    }
    struct span span = {event->begin, event->begin + event->took};
    include(timeline, span);
    track->slices++;
    add_span(timeline, track, busy_of(event), span);
}
