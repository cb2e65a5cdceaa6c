/*
 * totals.h - how often, how long, how many bytes, by name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TOTALS_H
#define REX_REPORT_TOTALS_H

#include <stddef.h>

#include "event.h"

#define MOST_NAMES 2048 /* the rest is counted together */

enum total_of { TOTAL_WAITED, TOTAL_QUEUED, TOTAL_DEFERRED, TOTAL_DATA, TOTAL_PHASE, TOTAL_FREE };

struct total {
    enum total_of of;
    char *name;
    uint64_t calls, took, most; /* nanoseconds */
    uint64_t to, from;          /* bytes copied, as far as the trace tells */
};

struct totals {
    struct total *rows; /* a hash of twice as many */
    size_t count;
};

void totals_begin(struct totals *totals);

/* EVENT, for which so many bytes were copied; what repeats another event is passed over. */
void totals_add(struct totals *totals, const struct event *event, uint64_t to, uint64_t from);

/* All rows that are used, the longest first. */
void totals_sort(struct totals *totals);

void totals_end(struct totals *totals);

#endif
