/*
 * pending.h - unfinished work of queues, as mappings and modules see it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PENDING_H
#define REX_INTERNAL_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/map.h"

struct rex_kernel_list;
struct rex_registration;

/*
 * A queue whose work may be unfinished. Its functions are called with the list locked and lock what
 * is theirs.
 */
struct rex_pending {
    struct rex_pending *next;
    const char *name;
    int number; /* of the device */
    /*
     * Is there unfinished work that may use SIZE bytes at BEGIN (NULL: anything at all), or a
     * kernel of REGISTRATION?
     */
    bool (*uses)(struct rex_pending *pending, const void *begin, size_t size);
    bool (*runs)(struct rex_pending *pending, const struct rex_registration *registration);
    int (*wait)(struct rex_pending *pending); /* 0 or an error */
    /*
     * A call of the driver failed elsewhere, with WHY: is the device lost? That is kept then, and
     * NOTED gets the unfinished kernels.
     */
    bool (*is_lost)(struct rex_pending *pending, const char *why, struct rex_kernel_list *noted);
};

void rex_pending_add(struct rex_pending *pending);
void rex_pending_remove(struct rex_pending *pending);

extern int rex_pending_count; /* read it by: */
static inline bool rex_pending_any(void)
{
    return __builtin_expect(__atomic_load_n(&rex_pending_count, __ATOMIC_RELAXED) > 0, 0);
}

/*
 * The mapping of MAP's rows on device NUMBER, or the registration of a module, is about to end. 0,
 * or REX_EBUSY with the name of the queue that still uses it; with REX_UNFINISHED=wait, after
 * waiting, 0 or the error that the wait came to. REX_ECUDA where a queue has ever found the device,
 * or for a module any device, lost. WHAT begins the message.
 */
int rex_pending_unmap(const struct rex_map *map, int number, const char *what);
int rex_pending_unload(const struct rex_registration *registration, bool last);

/*
 * Wait for all unfinished work on device NUMBER that may use MAP's rows (NULL: anything), with a
 * warning that names the queue and CALL.
 */
void rex_pending_wait(const struct rex_map *map, int number, const char *call);

/* The same before CALL, which may end the mapping of these rows of DEVICE (-1: the default one). */
void rex_pending_before_end(int64_t device, int32_t count, void **begin, int64_t *sizes,
                            int64_t *types, const char *call);

/* All of those on device NUMBER are asked whether it is lost. */
bool rex_pending_ask(int number, const char *why, struct rex_kernel_list *noted);

#endif
