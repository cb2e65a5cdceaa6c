/*
 * mapping.c - when what is known of mappings is out of date.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/mapping.h"

#include "rex/queue.h"

uint64_t rex_mapping_generation = 1;

void rex_mappings_changed(void)
{
    rex_mapping_ended();
}
