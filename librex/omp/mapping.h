/*
 * mapping.h - when what is known of mappings is out of date.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPING_H
#define REX_INTERNAL_MAPPING_H

#include <stdint.h>

/*
 * The generation of the mappings: it changes after every call that may have ended one, if librex is
 * in the way of such calls (rex_forward_first()). A device address found in a generation is good as
 * long as that lasts.
 */
extern uint64_t rex_mapping_generation;

static inline uint64_t rex_mapping_now(void)
{
    return __atomic_load_n(&rex_mapping_generation, __ATOMIC_ACQUIRE);
}

/* After a call of librex's own that may have ended a mapping, and after any other such call. */
#define REX_END_ELSEWHERE (UINT64_C(1) << 32)
static inline void rex_mapping_ended_here(void)
{
    __atomic_fetch_add(&rex_mapping_generation, 1, __ATOMIC_RELEASE);
}
static inline void rex_mapping_ended(void)
{
    __atomic_fetch_add(&rex_mapping_generation, REX_END_ELSEWHERE, __ATOMIC_RELEASE);
}

#endif
