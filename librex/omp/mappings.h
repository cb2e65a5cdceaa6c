/*
 * mappings.h - the index of mappings, for present.c alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGS_H
#define REX_INTERNAL_MAPPINGS_H

#include "omp/present.h"

/* A row begins what it touches. True: one mapping has all of it. */
bool rex_mapping_begun(const void *begin, size_t size, int number);

/* COUNT places on device NUMBER: how each PLACE is mapped is filled in. */
void rex_mappings_place(struct rex_place *place, size_t count, int number);

/* PLACE becomes as large as the mappings of device NUMBER that it touches. */
void rex_mappings_widen(struct rex_place *place, int number);

/* Before and after an end: what its rows may end is hidden, and shown again where it is left. */
void rex_mappings_hide(const struct rex_map *map, int number);
void rex_mappings_show(const struct rex_map *map, int number, bool later);

/* The index is empty from now on, and libomptarget is asked. */
void rex_mappings_forget(void);

#endif
