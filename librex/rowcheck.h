/* rowcheck.h - what is wrong with a row before libomptarget sees it. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_ROWCHECK_H
#define REX_INTERNAL_ROWCHECK_H

#include "memory.h"
#include "rex/map.h"

enum rex_purpose { REX_FOR_LAUNCH, REX_FOR_QUEUE, REX_FOR_BEGIN, REX_FOR_END, REX_FOR_UPDATE };

/* Check shape and types of MAP; WHAT begins the message. 0 or REX_EINVAL. */
int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);

/* Check MAP against what is mapped on device NUMBER: 0, REX_EABSENT or REX_EOVERLAP. */
int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number, const char *what);

/* As rex_memory_presence(), after the image has been loaded on the device: that maps globals. */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number);

#endif
