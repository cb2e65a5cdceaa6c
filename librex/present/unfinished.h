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
 * called without the lock of the list, because they may wait; the queue has a holder meanwhile.
 */
struct rex_unfinished {
    struct rex_unfinished *next;
    unsigned holders; /* threads that examine it or wait for it; until 0 it stays in the list */
    bool is_ending;   /* no further thread may hold it */
    const char *name;
    int number; /* number of the device */
    /*
     * uses() returns true if an unfinished command may use SIZE bytes at BEGIN (NULL: any memory)
     * on device NUMBER. runs() returns true if one runs a kernel of REGISTRATION.
     */
    bool (*uses)(struct rex_unfinished *unfinished, const void *begin, size_t size, int number);
    bool (*runs)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    int (*sync)(struct rex_unfinished *unfinished); /* returns 0 or an error */
    /* Forgets the kernels of REGISTRATION and their names, which end. */
    void (*forget)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    /*
     * Returns true if this queue finds the device lost, after a driver call failed elsewhere with
     * WHY. The queue then notes the loss, and adds its unfinished kernels to NOTED.
     */
    bool (*is_lost)(struct rex_unfinished *unfinished, const char *why,
                    struct rex_kernel_list *noted);
};

/*
 * Add a queue to the list, and remove it. rex_unfinished_remove() waits until no thread holds it.
 */
void rex_unfinished_add(struct rex_unfinished *unfinished);
void rex_unfinished_remove(struct rex_unfinished *unfinished);

/* First queue of the list. Only rex_any_unfinished() reads it without the lock. */
extern struct rex_unfinished *rex_unfinished_first;
static inline bool rex_any_unfinished(void)
{
    /*
     * Relaxed: a queue that another thread makes at this moment has no work yet; the list is read
     * under its lock.
     */
    return __builtin_expect(__atomic_load_n(&rex_unfinished_first, __ATOMIC_RELAXED) != NULL, 0);
}

/*
 * Call these before the mappings of MAP's rows on device NUMBER end, or before a module's
 * registration ends. Return 0, or REX_EBUSY with the name of a queue that still uses them. With
 * REX_UNFINISHED=wait they wait, and return 0 or the error of the wait. Return REX_ECUDA if the
 * device is lost; for a module, any device. WHAT begins the message.
 */
int rex_before_unmap(const struct rex_map *map, int number, const char *what);
int rex_before_unload(const struct rex_registration *registration, bool last);

/*
 * Call before a library is unloaded: rex_before_unload() without the check for a lost device,
 * because libomptarget does not know the library. After the unload, rex_unfinished_forget() makes
 * all queues forget its kernels.
 */
int rex_before_library_unload(const struct rex_registration *registration);
void rex_unfinished_forget(const struct rex_registration *registration);

/*
 * Waits for all unfinished commands on device NUMBER that may use MAP's rows (NULL: any memory).
 * Logs a warning with the names of the queue and of CALL.
 */
void rex_unfinished_sync(const struct rex_map *map, int number, const char *call);

/* Waits for all unfinished commands on device NUMBER. Returns 0 or the first error. */
int rex_unfinished_sync_all(int number);

/*
 * Calls rex_unfinished_sync() before the program's own CALL on DEVICE (-1: the default device), if
 * MAP has columns.
 */
void rex_unfinished_wait(const struct rex_map *map, int64_t device, const char *call);

/* Asks all queues on device NUMBER if it is lost. Returns true if one finds it lost. */
bool rex_unfinished_find_lost(int number, const char *why, struct rex_kernel_list *noted);

#endif
