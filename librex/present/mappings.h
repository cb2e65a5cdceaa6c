/*
 * mappings.h - the entries of the present table, for the files of this room alone.
 *
 * Each device has its own table. The entries of a table are in the order of addresses, and do not
 * overlap.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGS_H
#define REX_INTERNAL_MAPPINGS_H

#include <pthread.h>

#include "base/assert.h"
#include "cuda/driver.h"
#include "present/entries.h"
#include "present/present.h"

#define REX_REFS_UNKNOWN UINT32_MAX

#define REX_LOOSE_FEW 64 /* how often memory becomes loose before all of it is examined */

/* The table of one device. Do not log or call libomptarget while holding its lock. */
struct rex_present_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a call or a look-up ends */
    struct rex_entry_list mapped;
    struct rex_entry_list attached; /* pointers that are attached in mapped memory */
    struct rex_range_lock *at_work; /* calls that use memory without an entry, or wait for it */
    size_t by_driver;               /* calls at work that may use the driver */
    size_t awaiting;                /* ends that wait for users; also read without the lock */
    uint64_t changes;               /* how often waiting calls were woken, for rex_present_wait() */
    uint64_t dropped;  /* number of the newest deferred launch whose entry has left the table */
    unsigned ends;     /* calls at work that end mappings, if look-ups take references */
    bool is_looking;   /* a thread is in a look-up that takes references */
    unsigned loosened; /* how often memory became loose; also read without the lock */
    unsigned begun;    /* how many ranges of begins met loose memory */
    unsigned look_at;  /* all loose memory is examined when `loosened` reaches this number */
};

extern struct rex_present_table rex_present_tables[REX_CUDA_DEVICES_MAX];

/* Returns the table of device NUMBER; NULL if the number cannot be that of a GPU. */
static inline struct rex_present_table *rex_present_table(int number)
{
    return number >= 0 && number < REX_CUDA_DEVICES_MAX ? &rex_present_tables[number] : NULL;
}

/* Copies the first entry with a byte from BEGIN to END. Returns false if there is none. */
bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found);

/*
 * Copies the begins of the settled mappings before and after RANGE, unless RANGE touches an entry.
 * Returns how many it copied.
 */
size_t rex_entries_beside(struct rex_present_table *table, const struct rex_range *range,
                          uintptr_t begins[2]);

/* For all functions below, the caller holds the lock of TABLE. */

static inline bool rex_entry_has(const struct rex_entry *entry, uintptr_t begin, uintptr_t end)
{
    return entry->begin <= begin && end <= entry->end;
}

/* Returns true if the entry is a mapping that no call makes or ends at the moment. */
static inline bool rex_entry_is_settled(const struct rex_entry *entry)
{
    return entry->owner == NULL && !entry->is_gone && !entry->is_loose;
}

/* Visits all entries that RANGE touches, in order. */
#define REX_EACH_ENTRY(table, entry, range) \
    REX_EACH_ENTRY_BETWEEN(&(table)->mapped, entry, (range)->begin, (range)->end)

/*
 * Makes the memory from BEGIN to END loose: the entries that it touches, and new ones for the rest.
 * Returns false if memory for new entries is short.
 */
bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/*
 * Notes that a pointer at ADDRESS, which has an entry, is attached. Does nothing if memory is
 * short.
 */
void rex_attached_add(struct rex_present_table *table, uintptr_t address);

/*
 * Removes the entries from BEGIN to END that are gone and have no user, and their attached
 * pointers.
 */
void rex_entries_clean(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/* Marks the reference counts of all entries that RANGE touches as unknown. */
void rex_entries_forget_refs(struct rex_present_table *table, const struct rex_range *range);

/*
 * Marks the counts of the entries that RANGE lies in or between as unknown, for a row of no length.
 * LLVM 15 to 24 search from each mapping's base, so such a row may count a neighbour.
 */
void rex_entries_forget_beside(struct rex_present_table *table, const struct rex_range *range);

/* Add and remove a CALL as a user of ENTRY, by RANGE. */
static inline void rex_entry_add_user(struct rex_entry *entry, enum rex_present_call call,
                                      struct rex_range *range)
{
    entry->users++;
    range->generation = entry->generation;
    if (call == REX_CALL_BY_DRIVER)
        return;
    entry->updates += call == REX_CALL_UPDATES;
    entry->attaching += range->attaches;
}

static inline void rex_entry_remove_user(struct rex_entry *entry, enum rex_present_call call,
                                         const struct rex_range *range)
{
    REX_ASSERT(entry->users > 0 && entry->end > range->begin);
    entry->users--;
    entry->older -= range->generation < entry->generation;
    if (call == REX_CALL_BY_DRIVER)
        return;
    entry->updates -= call == REX_CALL_UPDATES;
    entry->attaching -= range->attaches;
}

/* Call when a call that may have ended a mapping leaves. */
void rex_mapping_next_generation(void);

/*
 * Forgets all entries except loose ones, because they may be wrong. libomptarget is asked from then
 * on.
 */
void rex_mappings_forget(void);

#endif
