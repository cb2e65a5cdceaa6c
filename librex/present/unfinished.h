/*
 * unfinished.h - the list of queues whose commands may be unfinished when a mapping or a module
 * ends.
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
 * A queue whose commands may be unfinished. The functions of this struct lock the queue. Call these
 * functions without the lock of the list, because they may wait. Until a function returns, the
 * calling thread is a holder, so that the queue stays in the list.
 */
struct rex_unfinished {
    struct rex_unfinished *next;
    unsigned holders; /* number of threads that examine the queue or wait for it */
    bool is_ending;   /* no further thread may become a holder */
    const char *name;
    int number; /* number of the device */
    /*
     * uses() returns true if an unfinished command may use SIZE bytes at BEGIN on device NUMBER. If
     * BEGIN is NULL, uses() returns true if an unfinished command may use any memory of the device.
     * runs() returns true if an unfinished command runs a kernel of REGISTRATION.
     */
    bool (*uses)(struct rex_unfinished *unfinished, const void *begin, size_t size, int number);
    bool (*runs)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    int (*sync)(struct rex_unfinished *unfinished); /* returns 0 or an error */
    /*
     * Removes the kernels of REGISTRATION and their names from the queue, because the kernels and
     * the names will be freed.
     */
    void (*forget)(struct rex_unfinished *unfinished, const struct rex_registration *registration);
    /*
     * Called after a driver call outside the queue, such as a wait for an event, has failed with
     * WHY. Returns true if the queue finds that the device is lost. In that case the queue records
     * the loss, and adds its unfinished kernels to the list NOTED.
     */
    bool (*is_lost)(struct rex_unfinished *unfinished, const char *why,
                    struct rex_kernel_list *noted);
};

/*
 * rex_unfinished_add() adds a queue to the list. rex_unfinished_remove() waits until the queue has
 * no holder, and removes the queue.
 */
void rex_unfinished_add(struct rex_unfinished *unfinished);
void rex_unfinished_remove(struct rex_unfinished *unfinished);

/*
 * First queue of the list. Without the lock of the list, only rex_any_unfinished() reads this
 * pointer.
 */
extern struct rex_unfinished *rex_unfinished_first;
static inline bool rex_any_unfinished(void)
{
    /*
     * Relaxed: a queue that another thread is making has no unfinished command yet. The list itself
     * is read with the list's lock held.
     */
    return __builtin_expect(__atomic_load_n(&rex_unfinished_first, __ATOMIC_RELAXED) != NULL, 0);
}

/*
 * Call rex_before_unmap() before the mappings of the rows of MAP on device NUMBER end. The messages
 * of this function begin with WHAT. Call rex_before_unload() before the registration of a module
 * ends. IMAGE is the path of the module's image, for messages. LAST is true if the module is the
 * last one. In that case rex_before_unload() treats each queue with unfinished commands as a user
 * of the module.
 *
 * If a queue still uses the memory or the module, the functions fail with REX_EBUSY, and the
 * message names the queue. With REX_UNFINISHED=wait the functions wait for the queue, and return 0
 * or the error of the wait. rex_before_unmap() returns REX_ECUDA if the device is lost.
 * rex_before_unload() returns REX_ECUDA if any device is lost.
 */
int rex_before_unmap(const struct rex_map *map, int number, const char *what);
int rex_before_unload(const struct rex_registration *registration, const char *image, bool last);

/*
 * Call rex_before_library_unload() before a library is unloaded. This function checks the queues as
 * rex_before_unload() does, but does not check for a lost device, because libomptarget does not
 * know the library. After the unload, call rex_unfinished_forget(), which calls forget() of all
 * queues.
 */
int rex_before_library_unload(const struct rex_registration *registration, const char *image);
void rex_unfinished_forget(const struct rex_registration *registration);

/*
 * Waits for all unfinished commands on device NUMBER that may use the rows of MAP. If MAP is NULL,
 * waits for all unfinished commands on the device. For each queue with such commands, logs a
 * warning with the queue's name and CALL.
 */
void rex_unfinished_sync(const struct rex_map *map, int number, const char *call);

/* Waits for all unfinished commands on device NUMBER. Returns 0 or the first error. */
int rex_unfinished_sync_all(int number);

/*
 * Waits like rex_unfinished_sync() for MAP and DEVICE, if MAP has rows and all four columns. If the
 * program itself calls a function of libomptarget that ends mappings, call rex_unfinished_wait()
 * before libomptarget's function. CALL is the name of libomptarget's function, such as
 * "__tgt_target_data_end". DEVICE -1 is the default device.
 */
void rex_unfinished_wait(const struct rex_map *map, int64_t device, const char *call);

/*
 * Calls is_lost() of each queue on device NUMBER, with WHY and NOTED. Returns true if a queue finds
 * the device lost.
 */
bool rex_unfinished_find_lost(int number, const char *why, struct rex_kernel_list *noted);

#endif
