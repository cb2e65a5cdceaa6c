/*
 * mappings.h - what was mapped where, as a trace's data calls tell: which rows were copied.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_MAPPINGS_H
#define REX_REPORT_MAPPINGS_H

#include "event.h"

struct mapping {
    int64_t device;
    uint64_t begin, size, count; /* count: of regions that hold it */
};

/* Sorted by device and begin; none overlaps another. */
struct mappings {
    struct mapping *list;
    size_t count;
};

/* The copies of one row. */
struct copied {
    bool to, from;
};

/* ROW of the launch or data call EVENT: what was copied for it, and what is mapped from then on. */
struct copied mappings_row(struct mappings *mappings, const struct event *event,
                           const struct event_row *row);

void mappings_end(struct mappings *mappings);

#endif
