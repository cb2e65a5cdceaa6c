/*
 * mappings.h - the index of mappings, for present.c alone, and the lock of the present table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGS_H
#define REX_INTERNAL_MAPPINGS_H

#include <pthread.h>

#include "omp/present.h"

/*
 * The lock of the present table: it guards this index, the calls in omp/present.c, and the look-ups
 * in omp/lookup.c. No thread holds it inside libomptarget or the driver. rex_present_wait()
 * releases it while it waits for CONDITION.
 */
void rex_present_lock(void);
void rex_present_unlock(void);
void rex_present_wait(pthread_cond_t *condition);

/* A row begins the mappings that it touches. True: one mapping has all its bytes. */
bool rex_mapping_begun(const void *begin, size_t size, int number);

/* Fill in how each of COUNT places PLACE on device NUMBER is mapped. The caller holds the lock. */
void rex_mappings_place(struct rex_place *place, size_t count, int number);

/* Widen PLACE to the mappings of device NUMBER that it touches. The caller holds the lock. */
void rex_mappings_widen(struct rex_place *place, int number);

/* Before and after an end: hide the entries that rows of MAP may end; show those that are left. */
void rex_mappings_hide(const struct rex_map *map, int number);
void rex_mappings_show(const struct rex_map *map, int number, bool later);

/* A call that may have ended a mapping leaves. */
void rex_mapping_next_generation(void);

#endif
