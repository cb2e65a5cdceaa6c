/*
 * mappings.h - the entries of the present table, for the files of this room alone.
 *
 * Each device has a table of its own. Its entries are in the order of addresses, and none overlap.
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

#define REX_LOOSE_FEW 64 /* times that memory is made loose before all of it is looked at */

/* The table of one device. Nothing is logged under its lock, and libomptarget not called. */
struct rex_present_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call or a look-up is over */
    struct rex_entry_list mapped;
    struct rex_entry_list attached; /* the pointers that are attached in this memory */
    struct rex_range_lock *at_work; /* calls that use memory without an entry, or wait for it */
    size_t by_driver;               /* calls at work that may use the driver */
    size_t awaiting;                /* ends that wait for users; read by an atomic, too */
    uint64_t changes;  /* how often waiting calls were woken; rex_present_wait() compares it */
    uint64_t dropped;  /* the newest deferred launch with an entry that has left the table */
    unsigned ends;     /* calls at work that end mappings, if look-ups take references */
    bool is_looking;   /* a thread is in such a look-up */
    unsigned loosened; /* how often memory was made loose; read by an atomic, too */
    unsigned begun;    /* begins in loose memory so far */
    unsigned look_at;  /* when it is as many, all loose memory is looked at */
};

extern struct rex_present_table rex_present_tables[REX_CUDA_DEVICES_MAX];

/* The table of device NUMBER; NULL if the device can be no GPU. */
static inline struct rex_present_table *rex_present_table(int number)
{
    return number >= 0 && number < REX_CUDA_DEVICES_MAX ? &rex_present_tables[number] : NULL;
}

/* Copies the first entry that has one of these bytes; false: there is none. */
bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found);

/* Copies the begins of the mappings on both sides of RANGE, if it lies in none; their number. */
size_t rex_entries_beside(struct rex_present_table *table, const struct rex_range *range,
                          uintptr_t begins[2]);

/* The caller holds the lock of TABLE for all of these. */

static inline bool rex_entry_has(const struct rex_entry *entry, uintptr_t begin, uintptr_t end)
{
    return entry->begin <= begin && end <= entry->end;
}

/* Whether the entry is a mapping that stays for now. */
static inline bool rex_entry_is_settled(const struct rex_entry *entry)
{
    return entry->owner == NULL && !entry->is_gone && !entry->is_loose;
}

/* All entries that RANGE touches, one after the other. */
#define REX_EACH_ENTRY(table, entry, range) \
    REX_EACH_ENTRY_BETWEEN(&(table)->mapped, entry, (range)->begin, (range)->end)

/*
 * Make the memory from BEGIN to END loose: the entries that it touches, and new ones for the rest.
 * False: no memory for these.
 */
bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/* A pointer at ADDRESS, which has an entry, is attached. Without memory nobody hears of it. */
void rex_attached_add(struct rex_present_table *table, uintptr_t address);

/*
 * Take out the entries from BEGIN to END that are gone and that no call uses, and their attached
 * pointers.
 */
void rex_entries_clean(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/* The counts of all entries that RANGE touches are not known any more. */
void rex_entries_forget_refs(struct rex_present_table *table, const struct rex_range *range);

/*
 * A row of no length may change the count of the mapping that it lies in, or of one beside it: LLVM
 * 15 to 24 search from each mapping's base, which need not lie in the mapping.
 */
void rex_entries_forget_beside(struct rex_present_table *table, const struct rex_range *range);

/* A CALL becomes a user of ENTRY, by RANGE, or leaves it. */
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

/* A call that may have ended a mapping leaves. */
void rex_mapping_next_generation(void);

/* All entries may be wrong: forget them, and ask libomptarget from here on. */
void rex_mappings_forget(void);

#endif
