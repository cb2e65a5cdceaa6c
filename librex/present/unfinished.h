/*
 * unfinished.h - queues whose commands may be unfinished when a mapping or a module ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNFINISHED_H
#define REX_INTERNAL_UNFINISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/lost.h"
#include "rex/map.h"

/* ---- before a mapping or a module ends ------------------------------------------------------- */

/*
 * A queue whose commands may be unfinished. Its functions take the queue's own lock. They are
 * called without the list's, because they may wait; the queue has a holder meanwhile.
 */
struct rex_unfinished {
    struct rex_unfinished *next;
    unsigned holders; /* threads that ask it or wait for it; it stays in the list */
    bool is_ending;   /* no thread begins to hold it */
    const char *name;
    int number; /* of the device */
    /*
     * Whether an unfinished command may use SIZE bytes at BEGIN (NULL: any memory) on device
     * NUMBER, or runs a kernel of REGISTRATION.
     */
    bool (*uses)(struct rex_unfinished *unfinished, const void *begin, size_t size, int number);
    bool (*runs)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    int (*sync)(struct rex_unfinished *unfinished); /* 0 or an error */
    /* The kernels of REGISTRATION end, and their names with them. */
    void (*forget)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    /*
     * A call of the driver failed elsewhere, with WHY: whether this queue finds the device lost.
     * The queue then notes it, and NOTED gets its unfinished kernels.
     */
    bool (*is_lost)(struct rex_unfinished *unfinished, const char *why,
                    struct rex_kernel_list *noted);
};

/* The second waits until no thread holds the queue. */
void rex_unfinished_add(struct rex_unfinished *unfinished);
void rex_unfinished_remove(struct rex_unfinished *unfinished);

/* The list. Only rex_any_unfinished() reads it without its lock. */
extern struct rex_unfinished *rex_unfinished_first;
static inline bool rex_any_unfinished(void)
{
    /*
     * Relaxed: a queue that another thread is just making has no work yet; the list is read under
     * its lock.
     */
    return __builtin_expect(__atomic_load_n(&rex_unfinished_first, __ATOMIC_RELAXED) != NULL, 0);
}

/*
 * Call these before the mappings of MAP's rows on device NUMBER end, or before a module's
 * registration ends. Returns 0, or REX_EBUSY with the name of a queue that still uses it. With
 * REX_UNFINISHED=wait: 0 or the error of the wait. REX_ECUDA if a queue has found the device lost,
 * or, for a module, any device. WHAT begins the message.
 */
int rex_before_unmap(const struct rex_map *map, int number, const char *what);
int rex_before_unload(const struct rex_registration *registration, bool last);

/*
 * The same for a library, which libomptarget does not know: a lost device is no error. After its
 * kernels are unloaded, rex_unfinished_forget() makes all queues forget them.
 */
int rex_before_library_unload(const struct rex_registration *registration);
void rex_unfinished_forget(const struct rex_registration *registration);

/*
 * Wait for all unfinished commands on device NUMBER that may use MAP's rows (NULL: any memory).
 * Logs a warning with the names of the queue and of CALL.
 */
void rex_unfinished_sync(const struct rex_map *map, int number, const char *call);

/* Wait for all unfinished commands on device NUMBER. Returns 0 or the first error. */
int rex_unfinished_sync_all(int number);

/* The same before the program's own CALL, on DEVICE (-1: the default one). */
void rex_unfinished_wait(const struct rex_map *map, int64_t device, const char *call);

/* Ask all queues on device NUMBER whether it is lost. */
bool rex_unfinished_find_lost(int number, const char *why, struct rex_kernel_list *noted);

#endif
