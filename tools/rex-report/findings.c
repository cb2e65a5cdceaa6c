/*
 * findings.c - finds what a program could do better, from its trace, in numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* nanoseconds; in a longer launch the wait is a small part of the time */
#define SHORT UINT64_C(100000)
#define LARGE UINT64_C(65536)  /* bytes; for a smaller row, pinned memory saves little time */
#define MUCH UINT64_C(1000000) /* bytes; only larger data calls show the speed of copies */
#define SEEN (1 << 16)         /* number of slots of `seen`; 16 bits of a hash choose the slot */

/* A copy of the memory at `begin` to the device, or, if `is_back` is true, from the device. */
struct seen {
    uint64_t begin, size;
    int64_t device;
    bool is_back, used;
};

void findings_begin(struct findings *findings)
{
    *findings = (struct findings){.gpu = false};
    findings->seen = tool_alloc(SEEN, sizeof *findings->seen);
}

void findings_end(struct findings *findings)
{
    mappings_end(&findings->mappings);
    for (size_t i = 0; i < findings->repeat_count; i++)
        free(findings->repeats[i].kernel);
    for (size_t i = 0; i < findings->reasons; i++) {
        free(findings->by_runtime[i].because);
        free(findings->by_runtime[i].kernel);
    }
    free(findings->failed_kernel);
    free(findings->seen);
}

/* ---- memory that is copied again ------------------------------------------------------------- */

/*
 * Stores COPY. Returns true if an equal copy is stored already. Each slot stores one copy, and a
 * collision overwrites the older copy. So the count of repeated copies may be too small, but never
 * too large.
 */
static bool was_seen(struct findings *findings, struct seen copy)
{
    uint64_t hash = (copy.begin ^ copy.size << 40 ^ (uint64_t)copy.device << 56) + copy.is_back;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    struct seen *slot = &findings->seen[hash >> 48];
    bool was = slot->used && slot->begin == copy.begin && slot->size == copy.size &&
               slot->device == copy.device && slot->is_back == copy.is_back;
    copy.used = true;
    *slot = copy;
    return was;
}

static bool is_same(const struct repeat *repeat, const struct event *event,
                    const struct event_row *row)
{
    if (event->kind != EVENT_LAUNCH)
        return repeat->kernel == NULL && repeat->begin == row->begin && repeat->size == row->size;
    return repeat->kernel != NULL && repeat->row == row->number &&
           strcmp(repeat->kernel, event->name) == 0;
}

/*
 * Returns the repeat that matches EVENT and ROW, or adds a new repeat. Returns NULL if the array of
 * repeats is full.
 */
static struct repeat *find_repeat(struct findings *findings, const struct event *event,
                                  const struct event_row *row)
{
    for (size_t i = 0; i < findings->repeat_count; i++)
        if (is_same(&findings->repeats[i], event, row))
            return &findings->repeats[i];
    if (findings->repeat_count == MOST_REPEATS)
        return NULL;
    struct repeat *repeat = &findings->repeats[findings->repeat_count++];
    *repeat = (struct repeat){.row = row->number};
    if (event->kind == EVENT_LAUNCH)
        repeat->kernel = tool_format("%s", event->name);
    return repeat;
}

static void count_repeat(struct findings *findings, const struct event *event,
                         const struct event_row *row, struct copied again)
{
    struct repeat *repeat = find_repeat(findings, event, row);
    if (repeat == NULL)
        return;
    repeat->begin = row->begin;
    repeat->size = row->size;
    repeat->calls++;
    repeat->to += again.to;
    repeat->from += again.from;
    repeat->bytes += row->size * ((uint64_t)again.to + again.from);
    repeat->took += event->took;
}

/*
 * Returns true if EVENT is an update call. Such a call is not a repeat, because the program makes
 * the call after it has changed the data.
 */
static bool is_asked_for(const struct event *event)
{
    return event->kind == EVENT_DATA && strcmp(event->name, "data update") == 0;
}

static void look_for_repeat(struct findings *findings, const struct event *event,
                            const struct event_row *row, struct copied copied)
{
    struct seen copy = {row->begin, row->size, event->device, false, true};
    struct copied again = {.to = copied.to && was_seen(findings, copy)};
    copy.is_back = true;
    again.from = copied.from && was_seen(findings, copy);
    if ((again.to || again.from) && !is_asked_for(event))
        count_repeat(findings, event, row, again);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_rows(struct findings *findings, const struct event *event, uint64_t *to,
                     uint64_t *from)
{
    for (size_t i = 0; i < event->rows; i++) {
        const struct event_row *row = &event->row[i];
        struct copied copied = mappings_row(&findings->mappings, event, row);
        *to += copied.to ? row->size : 0;
        *from += copied.from ? row->size : 0;
        if (!row->pinned && row->size >= LARGE)
            findings->pageable += row->size * ((uint64_t)copied.to + copied.from);
        if (copied.to || copied.from)
            look_for_repeat(findings, event, row, copied);
    }
}

static void add_data(struct findings *findings, const struct event *event, uint64_t bytes)
{
    if (bytes < MUCH)
        return;
    findings->copies.bytes += bytes;
    findings->copies.took += event->took;
}

/* ---- launches -------------------------------------------------------------------------------- */

static void note_failure(struct findings *findings, const struct event *event)
{
    findings->failed++;
    findings->result = event->result;
    free(findings->failed_kernel);
    findings->failed_kernel = tool_format("%s", event->name);
}

static struct by_runtime *find_reason(struct findings *findings, const struct event *event)
{
    size_t at = 0;
    while (at < findings->reasons && strcmp(findings->by_runtime[at].because, event->because) != 0)
        at++;
    if (at == MOST_REASONS)
        return &findings->by_runtime[at - 1];
    if (at == findings->reasons)
        findings->by_runtime[findings->reasons++] = (struct by_runtime){
            .because = tool_format("%s", event->because), .kernel = tool_format("%s", event->name)};
    return &findings->by_runtime[at];
}

static void add_by_runtime(struct findings *findings, const struct event *event)
{
    struct by_runtime *found = find_reason(findings, event);
    found->others = found->others || strcmp(found->kernel, event->name) != 0;
    found->launches++;
    found->rows += event->rows;
    found->took += event->took;
}

/*
 * Adds a launch that copied BYTES. If the previous launch of the thread copied nothing, the host
 * did not need that launch's result, so the wait for that launch was not needed.
 */
static void add_launch(struct findings *findings, const struct event *event, uint64_t bytes)
{
    size_t at = event->id % THREADS;
    if (findings->last[at].thread == event->id && findings->last[at].took > 0) {
        findings->waited++;
        findings->waited_took += findings->last[at].took;
    }
    bool is_short = event->took < SHORT && bytes == 0 && !event->deferred &&
                    strstr(event->function, "nowait") == NULL;
    findings->last[at].thread = event->id;
    findings->last[at].took = is_short ? event->took : 0;
    findings->launches++;
    findings->deferred += event->deferred;
    if (*event->because != '\0')
        add_by_runtime(findings, event);
    if (event->result != 0)
        note_failure(findings, event);
}

static void add_queued(struct findings *findings, const struct event *event)
{
    if (strcmp(event->name, "queue launch") != 0)
        return;
    findings->launches++;
    findings->queued++;
    findings->queued_took += event->took;
}

void findings_add(struct findings *findings, const struct event *event, uint64_t *to,
                  uint64_t *from)
{
    *to = *from = 0;
    findings->calls +=
        event->kind == EVENT_LAUNCH || event->kind == EVENT_DATA || event->kind == EVENT_QUEUED;
    add_rows(findings, event, to, from);
    if (event->rows == 0 && (event->kind == EVENT_DATA || event->kind == EVENT_DONE)) {
        *to = event->to; /* copies without a map */
        *from = event->from;
    }
    if (event->kind == EVENT_LAUNCH)
        add_launch(findings, event, *to + *from);
    else if (event->track == TRACK_THREAD && event->kind != EVENT_TRACK)
        findings->last[event->id % THREADS].took = 0;
    if (event->kind == EVENT_DATA)
        add_data(findings, event, *to + *from);
    if (event->kind == EVENT_QUEUED)
        add_queued(findings, event);
    if (event->kind == EVENT_PHASE && strcmp(event->name, "activate contexts") == 0)
        findings->gpu = true;
    if (event->track != TRACK_DEVICE) {
        findings->to += *to;
        findings->from += *from;
    }
}
