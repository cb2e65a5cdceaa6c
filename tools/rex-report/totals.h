/*
 * totals.h - sums calls, times and bytes by name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TOTALS_H
#define REX_REPORT_TOTALS_H

#include <stddef.h>

#include "event.h"

#define MOST_NAMES 2048 /* further names are counted together */

enum total_of { TOTAL_WAITED, TOTAL_QUEUED, TOTAL_DEFERRED, TOTAL_DATA, TOTAL_PHASE, TOTAL_FREE };

struct total {
    enum total_of of;
    char *name;
    /* number of calls; sum and maximum of their times, in nanoseconds */
    uint64_t calls, took, most;
    uint64_t to, from; /* bytes copied, as far as the trace shows */
};

struct totals {
    struct total *rows; /* hash table with more than twice as many rows as names */
    size_t count;
};

void totals_begin(struct totals *totals);

/*
 * Adds EVENT, which copied TO bytes to the device and FROM bytes from the device. Skips an event
 * that repeats another event: each event on the track of a device, for example, repeats an event of
 * another track.
 */
void totals_add(struct totals *totals, const struct event *event, uint64_t to, uint64_t from);

/* Sorts all used rows, the longest time first. */
void totals_sort(struct totals *totals);

void totals_end(struct totals *totals);

#endif
