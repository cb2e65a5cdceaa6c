/*
 * mappings.c - follows the data calls of a trace: which memory is mapped, and which rows were
 * copied.
 *
 * The rules are libomptarget's. A mapped row is copied only if its type says always. The end of a
 * region copies a row back only if it drops the last reference to the mapping of the row.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "mappings.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* maximum number of mappings in the list; rex-report does not add further mappings */
#define MOST (1 << 16)

/* ---- the list -------------------------------------------------------------------------------- */

static bool is_before(const struct mapping *mapping, int64_t device, uint64_t begin)
{
    return mapping->device != device ? mapping->device < device : mapping->begin <= begin;
}

/*
 * Returns the number of mappings in the sorted list that are on a device below DEVICE, or that
 * begin at or before BEGIN on DEVICE.
 */
static size_t behind(const struct mappings *mappings, int64_t device, uint64_t begin)
{
    size_t low = 0, high = mappings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&mappings->list[middle], device, begin))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the mapping that contains the first byte of ROW; NULL if there is none. */
static struct mapping *find(const struct mappings *mappings, int64_t device,
                            const struct event_row *row)
{
    size_t at = behind(mappings, device, row->begin);
    struct mapping *mapping = at > 0 ? &mappings->list[at - 1] : NULL;
    return mapping != NULL && mapping->device == device &&
                   row->begin - mapping->begin < mapping->size
               ? mapping
               : NULL;
}

static void add(struct mappings *mappings, int64_t device, const struct event_row *row)
{
    if (mappings->count == MOST)
        return;
    size_t at = behind(mappings, device, row->begin);
    mappings->list = tool_grow(mappings->list, mappings->count, sizeof *mappings->list);
    struct mapping *place = mappings->list + at;
    memmove(place + 1, place, (mappings->count - at) * sizeof *place);
    *place = (struct mapping){device, row->begin, row->size, 1};
    mappings->count++;
}

static void drop(struct mappings *mappings, struct mapping *mapping)
{
    size_t at = (size_t)(mapping - mappings->list);
    mappings->count--;
    memmove(mapping, mapping + 1, (mappings->count - at) * sizeof *mapping);
}

void mappings_end(struct mappings *mappings)
{
    free(mappings->list);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct copied begin_row(struct mappings *mappings, int64_t device,
                               const struct event_row *row, struct mapping *mapping)
{
    struct copied copied = {.to = row->to && (mapping == NULL || row->always)};
    if (mapping != NULL)
        mapping->count++;
    else
        add(mappings, device, row);
    return copied;
}

static struct copied end_row(struct mappings *mappings, const struct event_row *row,
                             struct mapping *mapping)
{
    struct copied copied = {.from = false};
    if (mapping == NULL)
        return copied;
    mapping->count = row->deletes ? 0 : mapping->count - 1;
    copied.from = row->from && (mapping->count == 0 || row->always);
    if (mapping->count == 0)
        drop(mappings, mapping);
    return copied;
}

struct copied mappings_row(struct mappings *mappings, const struct event *event,
                           const struct event_row *row)
{
    struct mapping *mapping = find(mappings, event->device, row);
    bool is_free = mapping == NULL || row->always;
    if (event->kind == EVENT_LAUNCH)
        return (struct copied){row->to && is_free, row->from && is_free};
    if (strcmp(event->name, "data begin") == 0 || strcmp(event->name, "data enter") == 0)
        return begin_row(mappings, event->device, row, mapping);
    if (strcmp(event->name, "data end") == 0 || strcmp(event->name, "data exit") == 0)
        return end_row(mappings, row, mapping);
    return (struct copied){row->to, row->from};
}
