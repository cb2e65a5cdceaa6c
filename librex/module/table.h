/*
 * table.h - a module's entries, found by host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TABLE_H
#define REX_INTERNAL_TABLE_H

#include <stdbool.h>

#include "base/hash.h"
#include "image/view.h"
#include "omp/forward.h"
#include "rex/offload.h"

/*
 * What is known of one kernel, in one word so that it is read and changed whole: its form once a
 * launch has been checked, the number of its parameters, and the number of rows for which the check
 * was made, plus one.
 */
struct rex_kernel_facts {
    uint16_t parameters; /* REX_PARAMETERS_UNKNOWN in a host image without a signature */
    uint8_t form;        /* enum rex_kernel_form */
    uint8_t flags;
    uint32_t checked;
};
#define REX_MOST_THREADS 1024   /* of a block on any NVIDIA GPU */
#define REX_FACT_GLOBAL 1       /* a global, not a kernel */
#define REX_FACT_NARROW_FIRST 2 /* the first parameter is not 8 bytes wide: not the runtime's */
/* libomptarget launches it as its environment says, in one dimension. */
#define REX_FACT_MANAGED 8
#define REX_FACT_MATCHED 4      /* compared with the image; all else is 0 until then */
#define REX_FACT_CALLED 16      /* on the host device, by the image's function for that */
#define REX_FACT_SENDER_TOLD 32 /* the log has said who launches it */

/*
 * Rows of a launch that were checked for a kernel: a launch whose rows have these sizes and types
 * need not be checked again, but for whether their memory is still mapped. Never changed once a
 * thread can find it; freed with the table's facts.
 */
struct rex_shape {
    struct rex_shape *next;
    int32_t purpose; /* enum rex_purpose: what the rows were checked for */
    int32_t count;
    int32_t looked_up; /* how many of them have to be mapped; which ones, from rows[count] on */
    struct {
        int64_t size, type;
    } rows[];
};
#define REX_SHAPES 4 /* of a kernel; launches of further ones are checked every time */

/*
 * A kernel that was launched: all that another launch like the first one has to know. Written once,
 * before a thread can find it.
 */
struct rex_launched {
    const void *key;          /* NULL until then */
    uint32_t version;         /* of the packet that the runtime gets, */
    uint32_t rows;            /* and its number of rows */
    uint64_t most_threads;    /* of a block; known from the registration on, */
    uint32_t shared_memory;   /* as are the bytes of its static shared memory */
    struct rex_shape *shapes; /* of its launches, the newest first; atomic */
};

/*
 * A parameter of a kernel that libomptarget misplaces: which, and how wide it is in bytes; 0: there
 * is none.
 */
struct rex_misfit {
    uint16_t index, size;
};

/*
 * What a signature says of a kernel's parameters, without the runtime's. Kernels of the same
 * parameters share one. Never changed once a thread can find it; freed with the table's facts.
 */
struct rex_signature {
    struct rex_signature *older; /* of the same table */
    uint32_t count;
    struct rex_image_parameter parameter[];
};

/* Is in no table: the key is that of no kernel, so that no launch is like it. */
extern const struct rex_launched rex_never_launched;

struct rex_table {
    struct __tgt_offload_entry *entries;
    uint32_t count;
    uint32_t mask;
    uint32_t *index;               /* hash of keys: position + 1 */
    uint64_t *facts;               /* a struct rex_kernel_facts each */
    struct rex_launched *launched; /* one for each entry */
    struct rex_misfit *misfit;     /* likewise */
    /* likewise; NULL where the kernel has none */
    const struct rex_signature **signature;
    struct rex_signature *signatures; /* all of them, the newest first */
};

/*
 * Whether the module has entries of its own: its table is not empty, and lies in the binary in
 * which the module lies. A linker may give a binary without entries the table of a shared object.
 */
bool rex_table_is_own(const struct rex_module *module);

/*
 * Check the module's entries and make the index, in the memory that the table has where it fits. 0
 * or an error.
 */
int rex_table_build(struct rex_table *table, const struct rex_module *module);

/* Free what the table of a registration that ends for good holds. */
void rex_table_free(struct rex_table *table);

/* Position of the entry whose key is KEY, or -1. */
static inline int64_t rex_table_find(const struct rex_table *table, const void *key)
{
    uint32_t at = rex_hash_address(key) & table->mask;
    for (uint32_t found; (found = table->index[at]) != 0; at = (at + 1) & table->mask)
        if (table->entries[found - 1].addr == key)
            return (int64_t)found - 1;
    return -1;
}

union rex_facts_word {
    struct rex_kernel_facts facts;
    uint64_t word;
};

static inline struct rex_kernel_facts rex_table_facts(const struct rex_table *table,
                                                      int64_t position)
{
    union rex_facts_word read = {.word =
                                     __atomic_load_n(&table->facts[position], __ATOMIC_ACQUIRE)};
    return read.facts;
}

/*
 * The one way to change the facts of the kernel at POSITION: *KNOWN, as they were read, become
 * FACTS. False, and *KNOWN as they are now, where another thread has changed them since.
 */
static inline bool rex_table_change_facts(struct rex_table *table, int64_t position,
                                          struct rex_kernel_facts *known,
                                          struct rex_kernel_facts facts)
{
    union rex_facts_word read = {.facts = *known}, written = {.facts = facts};
    bool changed = __atomic_compare_exchange_n(&table->facts[position], &read.word, written.word, 0,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    *known = read.facts;
    return changed;
}

/*
 * What to remember of the kernel at POSITION, which was launched with a packet of this VERSION and
 * ROWS rows.
 */
const struct rex_launched *rex_table_launched(struct rex_table *table, int64_t position,
                                              uint32_t version, uint32_t rows);

#endif
