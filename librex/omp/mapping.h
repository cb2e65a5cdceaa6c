/*
 * mapping.h - when what is known of mappings is out of date.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPING_H
#define REX_INTERNAL_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/map.h"

/*
 * The generation of the mappings: it changes after every call that may have ended one, if librex is
 * in the way of such calls. A device address found in a generation is good as long as that lasts.
 */
extern uint64_t rex_mapping_generation;
/* librex's own calls, which end nothing, come back through the forwarders */
extern __thread bool rex_looking_up;
extern int rex_pending_count; /* queues that may have unfinished work; see pending.h */

/*
 * Whether all such calls of the process go through librex: its forwarders come before libomptarget.
 */
bool rex_mapping_seen(void);
bool rex_mapping_all_seen(void); /* the same, asked once */

static inline uint64_t rex_mapping_now(void)
{
    return __atomic_load_n(&rex_mapping_generation, __ATOMIC_ACQUIRE);
}

/* After a call that may have ended a mapping: one of librex's own, and any other. */
#define REX_END_ELSEWHERE (UINT64_C(1) << 32)
static inline void rex_mapping_ended_here(void)
{
    __atomic_fetch_add(&rex_mapping_generation, 1, __ATOMIC_RELEASE);
}
static inline void rex_mapping_ended(void)
{
    if (!rex_looking_up)
        __atomic_fetch_add(&rex_mapping_generation, REX_END_ELSEWHERE, __ATOMIC_RELEASE);
}

/*
 * Before such a call that cannot be refused: waits for queues that have unfinished work with these
 * rows of a device (-1: the default one).
 */
void rex_mapping_settle(int64_t device, int32_t count, void **begin, int64_t *sizes, int64_t *types,
                        const char *call);
static inline void rex_mapping_ending(int64_t device, int32_t count, void **begin, int64_t *sizes,
                                      int64_t *types, const char *call)
{
    if (__builtin_expect(
            __atomic_load_n(&rex_pending_count, __ATOMIC_RELAXED) > 0 && !rex_looking_up, 0))
        rex_mapping_settle(device, count, begin, sizes, types, call);
}

#endif
