/*
 * maptype.h - the type of a map's row in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPTYPE_H
#define REX_INTERNAL_MAPTYPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * TYPE in words, "to|from|target_param", in TEXT of SIZE bytes: the names are those of
 * libomptarget's enumerators. "alloc" for 0.
 */
void rex_type_text(int64_t type, char *text, size_t size);

#endif
