/*
 * mappings.h - the index of mappings, for present.c alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGS_H
#define REX_INTERNAL_MAPPINGS_H

#include <pthread.h>

#include "omp/present.h"

/*
 * The lock of the present table: of this index, and of the calls in omp/present.c. Never held inside
 * libomptarget or the driver. A thread that waits for CONDITION gives it back meanwhile.
 */
void rex_present_lock(void);
void rex_present_unlock(void);
void rex_present_wait(pthread_cond_t *condition);

/* A row begins what it touches. True: one mapping has all of it. */
bool rex_mapping_begun(const void *begin, size_t size, int number);

/* COUNT places on device NUMBER: how each PLACE is mapped is filled in. The caller has the lock. */
void rex_mappings_place(struct rex_place *place, size_t count, int number);

/* PLACE becomes as large as the mappings of device NUMBER that it touches. Likewise. */
void rex_mappings_widen(struct rex_place *place, int number);

/* Before and after an end: what its rows may end is hidden, and shown again where it is left. */
void rex_mappings_hide(const struct rex_map *map, int number);
void rex_mappings_show(const struct rex_map *map, int number, bool later);

/* The index is empty from now on, and libomptarget is asked. */
void rex_mappings_forget(void);

#endif
