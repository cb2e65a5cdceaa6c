/*
 * mappings.h - follows the data calls of a trace: which memory is mapped, and which rows were
 * copied.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_MAPPINGS_H
#define REX_REPORT_MAPPINGS_H

#include "event.h"

struct mapping {
    int64_t device;
    uint64_t begin, size, count; /* count: number of regions that map the memory */
};

/* A list of mappings, sorted by device and begin, without overlaps. */
struct mappings {
    struct mapping *list;
    size_t count;
};

/* The directions in which one row was copied: to the device, from the device. */
struct copied {
    bool to, from;
};

/*
 * Updates the mappings with ROW of the launch or data call EVENT. Returns the directions in which
 * EVENT copied ROW.
 */
struct copied mappings_row(struct mappings *mappings, const struct event *event,
                           const struct event_row *row);

void mappings_end(struct mappings *mappings);

#endif
