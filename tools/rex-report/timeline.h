/*
 * timeline.h - counts how busy each track was over time, in bounded memory.
 *
 * Time is cut into bins of one width, a power of two of nanoseconds. When the trace does not fit in
 * the bins, the width doubles. So a trace of any length needs the same memory.
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
#define MOST_TRACKS 256 /* later tracks are only counted, and have no bins */

/* Kinds of work on a track. */
enum busy { BUSY_KERNEL, BUSY_DATA, BUSY_QUEUE, BUSY_START, BUSY_KINDS };

/* A span of time, in nanoseconds. */
struct span {
    uint64_t begin, end;
};

struct track {
    enum event_track sort;
    uint64_t id;
    char *name;
    uint64_t slices;
    uint64_t total[BUSY_KINDS]; /* nanoseconds; time in nested slices counts once */
    uint64_t (*bins)[BUSY_KINDS];
    /*
     * ring of the latest slices. If a later slice encloses some of these slices, it adds to `total`
     * only the time outside them.
     */
    struct span *recent;
    size_t first, count;
};

struct timeline {
    struct track *tracks;
    size_t count, left_out;
    unsigned shift;     /* a bin is 1 << shift nanoseconds wide */
    uint64_t first_bin; /* number of the first bin, counted from time 0 */
    struct span span;   /* span of all slices; begin > end if there are none */
};

void timeline_begin(struct timeline *timeline);

/*
 * Adds EVENT, which is a slice or the name of a track. Add the slices of a track in the order of
 * their ends.
 */
void timeline_add(struct timeline *timeline, const struct event *event);

/* Sorts the tracks: threads, then devices, then queues. Sorts tracks of the same kind by number. */
void timeline_sort(struct timeline *timeline);

/*
 * Returns the number of bins that `span` of TIMELINE touches. *FIRST becomes the index of the first
 * of these bins.
 */
size_t timeline_bins(const struct timeline *timeline, size_t *first);

/* Returns how long TRACK was busy, in nanoseconds. */
uint64_t track_busy(const struct track *track);

void timeline_end(struct timeline *timeline);

#endif
