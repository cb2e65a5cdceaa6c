/*
 * exclude.c - which calls exclude each other on memory without an entry; the list of these calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/exclude.h"

static bool is_launch(const struct rex_range_lock *ranges)
{
    return ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_LAUNCHES;
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER, which uses all memory, because a mapper
 * tells its rows to libomptarget alone.
 */
static bool excludes_all(const struct rex_range_lock *ranges, const struct rex_range *range,
                         const struct rex_range_lock *other)
{
    bool maps = ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_BEGINS;
    return other->call == REX_CALL_ENDS || ranges->call == REX_CALL_ENDS ||
           (maps && !range->is_whole && other->call != REX_CALL_UPDATES);
}

/* Whether libomptarget maps what is absent. */
static bool maps(const struct rex_range_lock *ranges)
{
    return ranges->call == REX_CALL_LAUNCHES || ranges->call == REX_CALL_BEGINS;
}

static bool is_mapped_anew(const struct rex_range *range)
{
    return !range->is_whole && range->counts != REX_COUNTS_NONE && !range->attaches;
}

static bool are_same_bytes(const struct rex_range *range, const struct rex_range *with)
{
    return range->begin == with->begin && range->end == with->end;
}

/*
 * Whether libomptarget cannot map both ranges at once. It aborts if one of them extends what it has
 * mapped for the other. The same memory it counts twice, but LLVM 14 and 15 may delete a mapping
 * that another call has just found.
 */
static bool clash(const struct rex_range *range, const struct rex_range *with)
{
    return is_mapped_anew(range) && is_mapped_anew(with) &&
           (rex_found_may_be_deleted() ||
            (!are_same_bytes(range, with) && !range->is_empty && !with->is_empty));
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER, which has listed WITH: the same memory.
 * IS_IN_FORCE: see rex_is_in_force().
 */
static bool excludes(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, const struct rex_range *with,
                     bool is_in_force)
{
    bool by_driver = ranges->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER;
    if (maps(ranges) && maps(other) && clash(range, with))
        return true;
    /* A call that overlaps a mapping in part is refused, if it finds the mapping. */
    if (!is_in_force)
        return ranges->call == REX_CALL_ENDS && is_mapped_anew(with) &&
               !are_same_bytes(range, with);
    if (ranges->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS)
        return true;
    if (ranges->call == REX_CALL_BEGINS)
        return !range->is_whole && other->call != REX_CALL_LAUNCHES;
    if (other->call == REX_CALL_BEGINS)
        return !range->is_whole && ranges->call != REX_CALL_LAUNCHES;
    return is_launch(ranges) && is_launch(other) && by_driver && !range->is_whole &&
           (range->is_changed || with->is_changed);
}

/*
 * Whether RANGES gives way to OTHER, a data call that waits. Otherwise launches, or updates, that
 * follow each other closely would keep it waiting for good.
 */
static bool gives_way(const struct rex_range_lock *ranges, const struct rex_range *range,
                      const struct rex_range_lock *other, const struct rex_range *with)
{
    if (other->wait.is_open)
        return false;
    return (ranges->call == REX_CALL_BY_DRIVER && !range->is_whole && !with->is_whole) ||
           (ranges->call == REX_CALL_UPDATES && with->attaches);
}

bool rex_range_meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, size_t *first, bool is_in_force)
{
    if (other->is_all && !other->is_waiting)
        return is_in_force && excludes_all(ranges, range, other);
    while (ranges->is_ordered && *first < other->count && other->range[*first].end <= range->begin)
        ++*first;
    for (size_t i = *first; i < other->count; i++) {
        const struct rex_range *with = &other->range[i];
        if (other->is_ordered && with->begin >= range->end)
            break;
        if (with->is_shared || with->is_new || with->begin >= range->end ||
            range->begin >= with->end)
            continue;
        if (other->is_waiting ? is_in_force && gives_way(ranges, range, other, with)
                              : excludes(ranges, range, other, with, is_in_force))
            return true;
    }
    return false;
}

const struct rex_range_lock *rex_find_met(const struct rex_present_table *table,
                                          const struct rex_range_lock *ranges)
{
    bool force = rex_is_in_force(table);
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < ranges->count && other != ranges; i++)
            if (rex_range_meets(ranges, &ranges->range[i], other, &first, force))
                return other;
    }
    return NULL;
}

void rex_at_work_add(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    ranges->next = table->at_work;
    table->at_work = ranges;
    ranges->is_listed = true;
}

void rex_at_work_remove(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_range_lock **at = &table->at_work;
    while (*at != NULL && *at != ranges)
        at = &(*at)->next;
    if (*at != NULL)
        *at = ranges->next;
    ranges->is_listed = false;
}
