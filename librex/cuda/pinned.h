/*
 * pinned.h - pinned host memory, and which memory of the host the driver knows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PINNED_H
#define REX_INTERNAL_PINNED_H

#include <stdbool.h>

/*
 * Whether the byte at ADDRESS is pageable, the process's alone: neither pinned nor managed nor a
 * device's, which the driver copies faster than the processor could, or which that must not touch.
 */
bool rex_is_pageable(const void *address);

/* As the driver says now, where the above may know an old answer; that takes a microsecond. */
bool rex_is_pageable_now(const void *address);

/* Whether the driver has pinned the memory at ADDRESS for librex (rex/device.h). */
bool rex_is_pinned(const void *address);

/* Whether the program has any such memory. */
bool rex_is_any_pinned(void);

#endif
