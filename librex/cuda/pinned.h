/*
 * pinned.h - pinned host memory, and which memory of the host the driver knows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PINNED_H
#define REX_INTERNAL_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if the byte at ADDRESS is pageable: neither pinned nor managed nor a device's. For
 * other memory, the driver copies faster than the processor, or the processor must not touch the
 * memory. The answer may be old.
 */
bool rex_is_pageable(const void *address);

/* Returns the driver's present answer to rex_is_pageable(), which takes a microsecond. */
bool rex_is_pageable_now(const void *address);

/* Returns true if the driver has pinned the memory at ADDRESS for librex (rex/device.h). */
bool rex_is_pinned(const void *address);

/*
 * Returns true if one range that the driver has pinned for librex has all SIZE bytes at ADDRESS.
 * Does not ask the driver.
 */
bool rex_is_pinned_whole(const void *address, size_t size);

/* Returns true if the program has any memory of rex_host_alloc() or rex_host_register(). */
bool rex_is_any_pinned(void);

#endif
