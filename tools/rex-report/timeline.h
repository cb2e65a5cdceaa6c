/*
 * timeline.h - how busy each track was, over time, in few and bounded numbers.
 *
 * Time is cut into bins of one width, a power of two of nanoseconds, which doubles as the trace
 * goes on: a trace of any length and any number of events needs the same memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TIMELINE_H
#define REX_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define BINS 2048
#define MOST_TRACKS 256 /* those that come later are counted, and have no bins */

/* The work of a track. */
enum busy { BUSY_KERNEL, BUSY_DATA, BUSY_QUEUE, BUSY_START, BUSY_KINDS };

/* A time from BEGIN to END, in nanoseconds. */
struct span {
    uint64_t begin, end;
};

struct track {
    enum event_track sort;
    uint64_t id;
    char *name;
    uint64_t slices;
    uint64_t total[BUSY_KINDS]; /* nanoseconds; what lies in another slice counts once */
    uint64_t (*bins)[BUSY_KINDS];
    struct span *recent; /* a ring: slices that one which is still open may have around it */
    size_t first, count;
};

struct timeline {
    struct track *tracks;
    size_t count, left_out;
    unsigned shift;     /* a bin is 1 << shift nanoseconds wide */
    uint64_t first_bin; /* its number, counted from time 0 */
    struct span span;   /* of all slices; begin > end where there are none */
};

void timeline_begin(struct timeline *timeline);

/* EVENT, a slice or the name of a track, whose slices come in the order of their ends. */
void timeline_add(struct timeline *timeline, const struct event *event);

/* Threads, then devices, then queues, each by number. */
void timeline_sort(struct timeline *timeline);

/* The bins that the span touches: [*FIRST, *FIRST + count). */
size_t timeline_bins(const struct timeline *timeline, size_t *first);

/* How long TRACK was busy, in nanoseconds. */
uint64_t track_busy(const struct track *track);

void timeline_end(struct timeline *timeline);

#endif
