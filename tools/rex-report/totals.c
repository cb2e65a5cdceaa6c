/*
 * totals.c - sums calls, times and bytes by name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "totals.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/*
 * Number of slots of the hash table: 2 * MOST_NAMES, so that about half of the slots are free. Each
 * kind (enum total_of) has one more slot, for a row "others" with the names after the first
 * MOST_NAMES.
 */
#define SLOTS (2 * MOST_NAMES + TOTAL_FREE)

void totals_begin(struct totals *totals)
{
    totals->count = 0;
    totals->rows = tool_alloc(SLOTS, sizeof *totals->rows);
    for (size_t i = 0; i < SLOTS; i++)
        totals->rows[i].of = TOTAL_FREE;
}

void totals_end(struct totals *totals)
{
    for (size_t i = 0; i < SLOTS; i++)
        free(totals->rows[i].name);
    free(totals->rows);
}

static enum total_of total_of(const struct event *event)
{
    switch (event->kind) {
    case EVENT_LAUNCH: return event->deferred || event->awaited ? TOTAL_FREE : TOTAL_WAITED;
    case EVENT_DATA: return TOTAL_DATA;
    case EVENT_PHASE: return TOTAL_PHASE;
    case EVENT_DONE:
        /* Do not count the track of a device, because this track repeats events of the threads. */
        if (event->track == TRACK_QUEUE && event->is_kernel)
            return event->deferred ? TOTAL_DEFERRED : TOTAL_QUEUED;
        if (event->track == TRACK_QUEUE)
            return TOTAL_DATA;
        return TOTAL_FREE;
    default: return TOTAL_FREE;
    }
}

static size_t hash(enum total_of of, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037) + of;
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0'; at++)
        hash = (hash ^ *at) * UINT64_C(1099511628211);
    return (size_t)(hash % SLOTS);
}

/* Returns the row of NAME of kind OF. If there is no such row, returns a free row. */
static struct total *find(const struct totals *totals, enum total_of of, const char *name)
{
    size_t at = hash(of, name);
    while (totals->rows[at].of != TOTAL_FREE &&
           (totals->rows[at].of != of || strcmp(totals->rows[at].name, name) != 0))
        at = (at + 1) % SLOTS;
    return &totals->rows[at];
}

void totals_add(struct totals *totals, const struct event *event, uint64_t to, uint64_t from)
{
    const char *name = event->name;
    enum total_of of = total_of(event);
    if (of == TOTAL_FREE)
        return;
    struct total *row = find(totals, of, name);
    if (row->of == TOTAL_FREE && totals->count >= MOST_NAMES)
        row = find(totals, of, name = "others");
    if (row->of == TOTAL_FREE) {
        row->of = of;
        row->name = tool_format("%s", name);
        totals->count++;
    }
    row->calls++;
    row->took += event->took;
    row->most = event->took > row->most ? event->took : row->most;
    row->to += to;
    row->from += from;
}

static int compare(const void *one, const void *other)
{
    const struct total *a = one, *b = other;
    if (a->of == TOTAL_FREE || b->of == TOTAL_FREE)
        return (a->of == TOTAL_FREE) - (b->of == TOTAL_FREE);
    if (a->took != b->took)
        return a->took < b->took ? 1 : -1;
    return a->of != b->of ? (a->of < b->of ? -1 : 1) : strcmp(a->name, b->name);
}

void totals_sort(struct totals *totals)
{
    qsort(totals->rows, SLOTS, sizeof *totals->rows, compare);
}
