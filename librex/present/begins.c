/*
 * begins.c - begin calls in the present table: the entries that they make, the loose memory that
 * they own, and the references that they add.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/begins.h"

#include "base/assert.h"
#include "omp/backend.h"
#include "present/exclude.h"

void rex_begin_add_refs(struct rex_entry *entry, enum rex_counts counts)
{
    if (counts == REX_COUNTS_UNKNOWN || entry->refs == REX_REFS_UNKNOWN)
        entry->refs = REX_REFS_UNKNOWN;
    else
        entry->refs += counts == REX_COUNTS_ONE;
}

/*
 * A call in `at_work` that uses the memory of a new entry of BEGIN may have added a reference to
 * the mapping. So the function sets the reference count of the entry to unknown. To find such
 * calls, the function passes BEGIN to rex_range_meets() as an end call. An end call excludes every
 * other call that uses the end call's memory.
 */
static void forget_listed(struct rex_present_table *table, const struct rex_range_lock *begin)
{
    struct rex_range_lock as_end = *begin;
    as_end.call = REX_CALL_ENDS;
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < begin->count; i++)
            if (begin->range[i].is_new &&
                rex_range_meets(&as_end, &begin->range[i], other, &first, true))
                rex_entries_forget_refs(table, &begin->range[i]);
    }
}

/*
 * Call this if memory for entries is short, so that the table lacks mappings. From then on, only
 * libomptarget launches.
 */
static void lack_entries(void)
{
    rex_add_process_reasons(REX_REASON_NO_MEMORY);
    rex_mapped_unseen();
}

/* Adds loose entries for the memory of RANGE that has no entry. */
static void fill(struct rex_present_table *table, const struct rex_range *range)
{
    if (!rex_entries_fill(table, range->begin, range->end))
        lack_entries();
}

/* A range that touches the new entry of an earlier range gets no entry of its own. */
void rex_begin_make_entries(struct rex_present_table *table, struct rex_range_lock *begin)
{
    struct rex_entry *last = NULL;
    bool some_are_loose = false;
    if (!rex_entries_make_room(&table->mapped, begin->count)) {
        lack_entries();
        return;
    }
    for (size_t i = 0; i < begin->count; i++)
        some_are_loose |= begin->range[i].is_loose;
    for (size_t i = 0; i < begin->count; i++) {
        struct rex_range *range = &begin->range[i];
        bool touches = last != NULL && range->begin < last->end;
        if (range->is_mapped || (range->is_empty && !touches))
            continue;
        if (touches) {
            rex_begin_add_refs(last, range->end <= last->end ? range->counts : REX_COUNTS_UNKNOWN);
            continue;
        }
        /* The range overlaps another range, for which rex_begin_own_loose() has made entries. */
        if (some_are_loose && rex_entries_first(&table->mapped, range->begin, range->end) != NULL) {
            fill(table, range);
            last = NULL; /* the entries may have moved */
            continue;
        }
        range->is_new = true;
        begin->known++;
        struct rex_entry made = {.begin = range->begin,
                                 .end = range->end,
                                 .refs = range->counts == REX_COUNTS_ONE ? 1 : REX_REFS_UNKNOWN,
                                 .owner = begin};
        REX_ASSERT(rex_entries_first(&table->mapped, made.begin, made.end) == NULL);
        last = rex_entries_add(&table->mapped, &made);
    }
    if (table->at_work != NULL)
        forget_listed(table, begin);
}

static void cut_loose(struct rex_present_table *table, uintptr_t at)
{
    struct rex_entry *entry = rex_entries_first(&table->mapped, at, at);
    if (entry == NULL || !entry->is_loose || entry->users > 0)
        return;
    if (!rex_entries_make_room(&table->mapped, 1)) {
        lack_entries();
        return;
    }
    entry = rex_entries_first(&table->mapped, at, at);
    struct rex_entry made = {.begin = at,
                             .end = entry->end,
                             .refs = REX_REFS_UNKNOWN,
                             .is_loose = true,
                             .launch = entry->launch,
                             .generation = entry->generation,
                             .is_shown = entry->is_shown,
                             .is_attached = entry->is_attached,
                             .is_kept = entry->is_kept};
    entry->end = at;
    /*
     * An end call that waits may have added to `awaited` and `held` of the entry. From now on, the
     * range of the end call may touch only the second part. mark_used() in ends.c would then not
     * undo the addition to the first part. So set `awaited` and `held` to 0, and give the first
     * part a new `born`: mark_used() then treats the first part as a new entry, and undoes nothing.
     * An end call that still waits adds again at its next check.
     */
    entry->awaited = entry->held = 0;
    entry->born = ++table->mapped.made;
    rex_entries_add(&table->mapped, &made);
}

/*
 * If BEGIN maps a part of a loose entry (loose: see present.h), cuts the entry at the edges of the
 * part. librex later checks each of the resulting entries separately. If a range of BEGIN has loose
 * memory and memory without an entry, the memory without an entry gets a loose entry, too.
 * Otherwise the table would lack a part of the new mapping, and librex would not ask libomptarget
 * about that part when the next call maps the part.
 *
 * A loose entry may still have users: calls that began before the memory became loose. Such an
 * entry is not cut and gets no owner, because an owner excludes users.
 */
void rex_begin_own_loose(struct rex_present_table *table, const struct rex_range_lock *begin)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < begin->count; i++) {
        const struct rex_range *range = &begin->range[i];
        if (!range->is_loose)
            continue;
        table->begun++;
        cut_loose(table, range->begin);
        cut_loose(table, range->end);
        fill(table, range);
        REX_EACH_ENTRY(table, entry, range)
        if (entry->is_loose && entry->users == 0)
            entry->owner = begin;
    }
}
