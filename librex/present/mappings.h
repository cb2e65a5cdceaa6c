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

#include "cuda/driver.h"
#include "present/present.h"

#define REX_REFS_UNKNOWN UINT32_MAX

#define REX_LOOSE_FEW 64 /* times that memory is made loose before all of it is looked at */

/* One mapping, or memory that the begin of a region is about to map. */
struct rex_entry {
    uintptr_t begin, end;
    uintptr_t device;    /* the device address of `begin`; 0 if no launch goes by the driver */
    uint64_t born;       /* the number of the entry, in the order in which entries are made */
    uint32_t refs;       /* libomptarget's reference count, or REX_REFS_UNKNOWN */
    uint32_t users;      /* shared calls at work */
    uint32_t updates;    /* those of them that are updates, which the driver may copy for */
    uint32_t attaching;  /* those that attach or detach a pointer here */
    uint32_t older;      /* those that have begun before the current generation */
    uint32_t generation; /* of the users; a new one begins when an end waits for the older ones */
    uint32_t awaited;    /* rows of ends that wait for the users */
    uint32_t held;       /* those of them whose end keeps launches and updates waiting */
    uint32_t taken;      /* references that the end takes that is just being looked at */
    bool is_gone;        /* it leaves the table when no call uses it any more */
    bool is_loose;       /* only libomptarget launches and copies here, see present.h */
    uint64_t launch;     /* the newest deferred launch with it */
    bool is_shown;       /* the program has its device address: present.h */
    bool is_attached;    /* a row has attached a pointer in the memory */
    /* libomptarget has kept it at an end: for such a row that is no member, it does for good */
    bool is_kept;
    const struct rex_range_lock
        *owner; /* the exclusive call that makes or ends the mapping, or NULL */
};

/* The table of one device. Nothing is logged under its lock, and libomptarget not called. */
struct rex_present_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call or a look-up is over */
    struct rex_entry *entries;
    size_t count, room;
    uint64_t made;                  /* entries so far */
    struct rex_range_lock *at_work; /* calls that use memory without an entry, or wait for it */
    size_t by_driver;               /* calls at work that may use the driver */
    size_t awaiting;                /* ends that wait for users; read by an atomic, too */
    uint64_t changes;               /* calls that have left; wait_for_change() compares them */
    uintptr_t *attached; /* ATTACHED_COUNT addresses of attached pointers, in their order */
    size_t attached_count, attached_room;
    uint64_t dropped;  /* the newest deferred launch with an entry that has left the table */
    unsigned ends;     /* calls at work that end mappings, if look-ups take references */
    bool is_looking;   /* a thread is in such a look-up */
    unsigned loosened; /* how often memory was made loose; read by an atomic, too */
    unsigned begun;    /* begins in loose memory so far */
    unsigned look_at;  /* when it is as many, all loose memory is looked at */
};

/* The table of device NUMBER; NULL if the device can be no GPU. */
struct rex_present_table *rex_present_table(int number);

/* Copies the first entry that has one of these bytes; false: there is none. */
bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found);

/* Copies the begins of the mappings on both sides of RANGE, if it lies in none; their number. */
size_t rex_entries_beside(struct rex_present_table *table, const struct rex_range *range,
                          uintptr_t begins[2]);

/* The caller holds the lock of TABLE for all of these. */

/*
 * The index of the first entry that ends behind AT. LAST is the result of such a call. That entry
 * and the one behind it are tried first, because rows often come in the order of their addresses.
 */
size_t rex_entries_near(const struct rex_present_table *table, size_t last, uintptr_t at);

/* The same without an earlier call. */
static inline size_t rex_entries_behind(const struct rex_present_table *table, uintptr_t at)
{
    return rex_entries_near(table, table->count, at);
}

/* The entry at INDEX if it has a byte before END, else NULL. */
static inline struct rex_entry *rex_entry_touching(const struct rex_present_table *table,
                                                   size_t index, uintptr_t end)
{
    return index < table->count && table->entries[index].begin < end ? &table->entries[index]
                                                                     : NULL;
}

static inline bool rex_entry_has(const struct rex_entry *entry, uintptr_t begin, uintptr_t end)
{
    return entry->begin <= begin && end <= entry->end;
}

/* Whether the entry is a mapping that stays for now. */
static inline bool rex_entry_is_settled(const struct rex_entry *entry)
{
    return entry->owner == NULL && !entry->is_gone && !entry->is_loose;
}

/*
 * Room for COUNT new entries behind the others; NULL: no memory. The caller fills it in order, with
 * entries that touch no other, and then adds as many as it has made.
 */
struct rex_entry *rex_entries_room(struct rex_present_table *table, size_t count);
void rex_entries_add(struct rex_present_table *table, const struct rex_entry *made, size_t count);

/* All entries that RANGE touches, one after the other. */
#define REX_EACH_ENTRY(table, entry, range)                      \
    for (size_t at_ = rex_entries_behind(table, (range)->begin); \
         ((entry) = rex_entry_touching(table, at_, (range)->end)) != NULL; at_++)

/*
 * Make the memory from BEGIN to END loose: the entries that it touches, and new ones for the rest.
 * False: no memory for these.
 */
bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end);

/* A pointer at ADDRESS, which has an entry, is attached. Without memory nobody hears of it. */
void rex_attached_add(struct rex_present_table *table, uintptr_t address);

/* Take out the entries that are gone and that no call uses, and their attached pointers. */
void rex_entries_clean(struct rex_present_table *table);

/* The counts of all entries that RANGE touches are not known any more. */
void rex_entries_forget_refs(struct rex_present_table *table, const struct rex_range *range);

/*
 * A row of no length may change the count of the mapping that it lies in, or of one beside it: LLVM
 * 15 to 24 search from each mapping's base, which need not lie in the mapping.
 */
void rex_entries_forget_beside(struct rex_present_table *table, const struct rex_range *range);

/* The call RANGES becomes a user of ENTRY, by RANGE, or leaves it. */
static inline void rex_entry_add_user(struct rex_entry *entry, const struct rex_range_lock *ranges,
                                      struct rex_range *range)
{
    entry->users++;
    entry->updates += ranges->call == REX_CALL_UPDATES;
    entry->attaching += range->attaches;
    range->generation = entry->generation;
}

static inline void rex_entry_remove_user(struct rex_entry *entry,
                                         const struct rex_range_lock *ranges,
                                         const struct rex_range *range)
{
    entry->users--;
    entry->updates -= ranges->call == REX_CALL_UPDATES;
    entry->attaching -= range->attaches;
    entry->older -= range->generation < entry->generation;
}

/* A call that may have ended a mapping leaves. */
void rex_mapping_next_generation(void);

/* All entries may be wrong: forget them, and ask libomptarget from here on. */
void rex_mappings_forget(void);

#endif
