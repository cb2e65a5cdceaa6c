/*
 * addresses.c - device addresses of mapped memory, remembered.
 *
 * A launch that was like the one before it finds its sections in `recent`; a new section of a
 * mapping that is known lies in a span. Only what is in neither is asked of libomptarget, first for
 * the whole row of the data call that librex remembers, so that the sections to come are in it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/addresses.h"

#include <string.h>

#include "memory/mappinghints.h"
#include "memory/rowcheck.h"
#include "omp/forward.h"
#include "omp/mappingend.h"
#include "rex/launch.h"

#define NEVER (UINT64_C(1) << 63)

uint64_t rex_spans_generation(bool remember)
{
    static uint64_t rounds;
    return remember ? rex_mapping_now() : NEVER | __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
}

static struct rex_mapped_span *known(struct rex_spans *spans, uintptr_t begin, size_t size,
                                     uint64_t generation)
{
    for (size_t i = 0; i < REX_SPANS; i++) {
        struct rex_mapped_span *span = &spans->span[i];
        if (span->generation == generation && begin >= span->begin && begin < span->end &&
            size <= span->end - begin)
            return span;
    }
    return NULL;
}

/*
 * Where to put another span: in place of one of the same memory, an old one, or the next in turn.
 */
static struct rex_mapped_span *place_for(struct rex_spans *spans, uintptr_t begin, uintptr_t end,
                                         uint64_t generation)
{
    struct rex_mapped_span *old = NULL;
    for (size_t i = 0; i < REX_SPANS; i++) {
        struct rex_mapped_span *span = &spans->span[i];
        if (span->begin == begin && span->end == end)
            return span;
        if (old == NULL && span->generation != generation && !span->used)
            old = span;
    }
    if (old == NULL)
        old = &spans->span[spans->next++ % REX_SPANS];
    spans->lost |= old->used;
    if (old->generation != 0)
        /* they name it by its number, also those of another generation */
        memset(spans->recent, 0, sizeof spans->recent);
    old->used = false;
    return old;
}

/* SIZE bytes at BEGIN as a span, if they are mapped whole. */
static struct rex_mapped_span *ask(struct rex_spans *spans, const void *begin, size_t size,
                                   int number, uint64_t generation)
{
    void *device = NULL;
    enum rex_presence presence = rex_memory_find(begin, size, number, &device);
    if (presence == REX_ABSENT && rex_presence_after_load(begin, size, number) == REX_PRESENT_WHOLE)
        presence = rex_memory_find(begin, size, number, &device);
    if (presence != REX_PRESENT_WHOLE || device == NULL)
        return NULL;
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    struct rex_mapped_span *span = place_for(spans, at, end, generation);
    *span = (struct rex_mapped_span){at, end, (uintptr_t)device - at, generation, span->used};
    return span;
}

static struct rex_mapped_span *ask_for_row(struct rex_spans *spans, uintptr_t begin, size_t size,
                                           int number, uint64_t generation)
{
    const void *row;
    size_t row_size;
    if (!rex_mapping_hint((const void *)begin, size, number, &row, &row_size))
        return NULL;
    return ask(spans, row, row_size, number, generation);
}

uintptr_t rex_spans_look_up(struct rex_spans *spans, uintptr_t begin, size_t size, int number,
                            uint64_t generation)
{
    struct rex_mapped_span *span = known(spans, begin, size, generation);
    if (span == NULL)
        span = ask_for_row(spans, begin, size, number, generation);
    if (span == NULL)
        span = ask(spans, (const void *)begin, size, number, generation);
    if (span == NULL)
        return 0;
    size_t place = rex_spans_place(begin);
    span->used = true;
    spans->recent[place].begin = begin;
    spans->recent[place].size = size;
    spans->recent[place].device = begin + span->shift;
    spans->recent[place].generation = generation;
    spans->recent[place].span = (uint32_t)(span - spans->span);
    return begin + span->shift;
}

/* ---- use ------------------------------------------------------------------------------------- */

static uint64_t growth(const struct rex_spans *spans, uint32_t i, uint64_t begin, uint64_t end)
{
    uint64_t before = begin < spans->range[i].begin ? spans->range[i].begin - begin : 0;
    uint64_t behind = end > spans->range[i].end ? end - spans->range[i].end : 0;
    return before + behind;
}

/*
 * Joined with the range that grows least by it, where it touches that or there is no room: more
 * than is used may count as used.
 */
void rex_spans_use_range(struct rex_spans *spans, uint64_t begin, size_t size)
{
    uint64_t end = begin + size;
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < spans->ranges; i++)
        if (growth(spans, i, begin, end) < growth(spans, nearest, begin, end))
            nearest = i;
    if (size == 0)
        return;
    if (spans->ranges < REX_DEVICE_RANGES &&
        (spans->ranges == 0 || growth(spans, nearest, begin, end) > size)) {
        spans->range[spans->ranges].begin = begin;
        spans->range[spans->ranges++].end = end;
        return;
    }
    if (begin < spans->range[nearest].begin)
        spans->range[nearest].begin = begin;
    if (end > spans->range[nearest].end)
        spans->range[nearest].end = end;
}

static bool range_in_use(const struct rex_spans *spans, const void *begin, size_t size, int number)
{
    void *device = NULL;
    if (spans->ranges == 0 || rex_memory_find(begin, size, number, &device) != REX_PRESENT_WHOLE)
        return false;
    uint64_t at = (uint64_t)(uintptr_t)device;
    for (uint32_t i = 0; i < spans->ranges; i++)
        if (spans->range[i].begin < at + size && at < spans->range[i].end)
            return true;
    return false;
}

bool rex_spans_in_use(const struct rex_spans *spans, const void *begin, size_t size, int number)
{
    uintptr_t at = (uintptr_t)begin;
    if (spans->lost || (begin == NULL && spans->ranges > 0))
        return true;
    for (size_t i = 0; i < REX_SPANS; i++)
        if (spans->span[i].used &&
            (begin == NULL || (spans->span[i].begin < at + size && at < spans->span[i].end)))
            return true;
    return begin != NULL && range_in_use(spans, begin, size, number);
}

void rex_spans_release(struct rex_spans *spans)
{
    for (size_t i = 0; i < REX_SPANS; i++)
        spans->span[i].used = false;
    spans->ranges = 0;
    spans->lost = false;
}

/* Does TO know, and mark, what SPAN is? */
static bool use(struct rex_spans *to, const struct rex_mapped_span *span)
{
    for (size_t i = 0; i < REX_SPANS; i++)
        if (to->span[i].begin <= span->begin && span->end <= to->span[i].end &&
            to->span[i].generation != 0) {
            to->span[i].used = true;
            return true;
        }
    return false;
}

void rex_spans_use(struct rex_spans *to, const struct rex_spans *from)
{
    to->lost |= from->lost;
    for (uint32_t i = 0; i < from->ranges; i++)
        rex_spans_use_range(to, from->range[i].begin,
                            (size_t)(from->range[i].end - from->range[i].begin));
    for (size_t i = 0; i < REX_SPANS && from->span[i].generation != 0; i++)
        if (!use(to, &from->span[i])) {
            struct rex_mapped_span *span =
                place_for(to, from->span[i].begin, from->span[i].end, from->span[i].generation);
            *span = from->span[i];
            span->used = true;
        }
}

enum rex_spans_change rex_spans_renew(struct rex_spans *spans, int number, uint64_t generation)
{
    for (size_t i = 0; i < REX_SPANS; i++) {
        struct rex_mapped_span *span = &spans->span[i];
        if (span->generation == 0 || span->generation == generation)
            continue;
        void *device = NULL;
        if (rex_memory_find((const void *)span->begin, span->end - span->begin, number, &device) !=
            REX_PRESENT_WHOLE)
            return REX_SPANS_GONE;
        if ((uintptr_t)device - span->begin != span->shift)
            return REX_SPANS_MOVED;
        span->generation = generation;
    }
    return spans->lost ? REX_SPANS_MOVED : REX_SPANS_SAME;
}
