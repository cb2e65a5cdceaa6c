/*
 * mappings.h - the entries of the present table, for the files of this folder.
 *
 * Each device has its own table. The entries of a table are in the order of their addresses, and do
 * not overlap.
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

/*
 * Minimum number of times that memory becomes loose (present.h) between two examinations of all
 * loose memory.
 */
#define REX_LOOSE_FEW 64

/* The table of one device. A thread that has locked the table must not log or call libomptarget. */
struct rex_present_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when calls and look-ups that wait must check again */
    struct rex_entry_list mapped;
    struct rex_entry_list attached; /* attached pointers in mapped memory */
    /*
     * list of two kinds of calls: calls that use memory without an entry, and calls that wait
     * before they begin or end mappings
     */
    struct rex_range_lock *at_work;
    /* number of calls at work (present.h) that are launches by the driver or update calls */
    size_t by_driver;
    /*
     * number of ranges that still have users while an end call waits for them; also read without
     * the lock
     */
    size_t awaiting;
    uint64_t changes; /* number of times that waiting calls were woken */
    /* number of the newest deferred launch among those that used a removed entry */
    uint64_t dropped;
    /* number of calls that have called rex_ending_begin(), but not yet rex_ending_end() */
    unsigned ends;
    bool is_looking;   /* a thread is between rex_lookup_begin() and rex_lookup_end() */
    unsigned loosened; /* number of times that memory became loose; also read without the lock */
    unsigned begun;    /* number of times that a begin call had a range with loose memory */
    unsigned look_at;  /* value of `loosened` at which a call next examines all loose memory */
};

extern struct rex_present_table rex_present_tables[REX_CUDA_DEVICES_MAX];

/* Returns the table of device NUMBER, or NULL if no GPU can have this number. */
static inline struct rex_present_table *rex_present_table(int number)
{
    return number >= 0 && number < REX_CUDA_DEVICES_MAX ? &rex_present_tables[number] : NULL;
}

/*
 * Writes to *FOUND the first entry that has a byte from BEGIN to END. Returns false if there is
 * none.
 */
bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found);

/*
 * Examines the nearest entry before RANGE and the nearest entry after RANGE. If an entry is settled
 * (rex_entry_is_settled()), writes its first address to BEGINS. Returns the number of addresses
 * that were written: 0 to 2. Returns 0 if RANGE touches an entry.
 */
size_t rex_entries_beside(struct rex_present_table *table, const struct rex_range *range,
                          uintptr_t begins[2]);

/* Lock the table before you call a function below that has a parameter TABLE or ENTRY. */

static inline bool rex_entry_has(const struct rex_entry *entry, uintptr_t begin, uintptr_t end)
{
    return entry->begin <= begin && end <= entry->end;
}

/*
 * Returns true if the entry is settled: the entry is not gone and not loose, and no call is making
 * or ending its mapping.
 */
static inline bool rex_entry_is_settled(const struct rex_entry *entry)
{
    return entry->owner == NULL && !entry->is_gone && !entry->is_loose;
}

/* Visits all entries that RANGE touches, in order. */
#define REX_EACH_ENTRY(table, entry, range) \
    REX_EACH_ENTRY_BETWEEN(&(table)->mapped, entry, (range)->begin, (range)->end)

/*
 * Adds loose entries for the memory from BEGIN to END that has no entry. Returns false if memory
 * for new entries is short.
 */
bool rex_entries_fill(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/*
 * Makes the memory from BEGIN to END loose: marks its entries as loose, and adds loose entries for
 * memory without an entry. Returns false if memory for new entries is short.
 */
bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/*
 * Adds the attached pointer at ADDRESS to the table. Call this only if the pointer's own memory has
 * an entry. Does nothing if memory is short.
 */
void rex_attached_add(struct rex_present_table *table, uintptr_t address);

/*
 * Removes each entry between BEGIN and END that is gone (`is_gone`) and has no user and no owner.
 * Also removes the attached pointers in the memory of each removed entry.
 */
void rex_entries_clean(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/* Marks the reference count of each entry that RANGE touches as unknown. */
void rex_entries_forget_refs(struct rex_present_table *table, const struct rex_range *range);

/*
 * RANGE is the range of a row whose size is 0. Such a row may add a reference to a mapping beside
 * the row. Example: a row maps a[10] to a[19], and its base pointer is a. LLVM 15 to 24 treat a[0]
 * to a[9] as part of this mapping. So a row of size 0 at a[5] may add a reference to the mapping.
 * Marks the reference counts of three entries as unknown: the last entry that ends at or before the
 * begin of RANGE, and the next two entries.
 */
void rex_entries_forget_beside(struct rex_present_table *table, const struct rex_range *range);

/*
 * rex_entry_add_user() makes a call a user of ENTRY, and rex_entry_remove_user() removes this user.
 * CALL is the kind of the call. RANGE is the call's range that touches ENTRY.
 */
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

/*
 * Changes rex_mapping_generation. If a data call may have ended a mapping, use this function when
 * the data call leaves the table.
 */
void rex_mapping_next_generation(void);

/*
 * Marks the entries of all devices, except loose entries, as gone, because their mappings may have
 * ended. Removes the marked entries that have no user and no owner. After this call, librex asks
 * libomptarget whether memory without an entry is mapped.
 */
void rex_mappings_forget(void);

#endif
