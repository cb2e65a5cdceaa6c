/*
 * pinned.h - pins host memory, and finds out whether host memory is pageable.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PINNED_H
#define REX_INTERNAL_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if the byte at ADDRESS is pageable: not pinned, not managed, and not in a device's
 * memory. The answer may be out of date. If the result is false, the caller must leave the copy to
 * the driver, for two reasons. The driver copies pinned memory faster, and the processor must not
 * touch a device's memory.
 */
bool rex_is_pageable(const void *address);

/*
 * Asks the driver if the byte at ADDRESS is pageable, so the answer is never out of date. The call
 * takes about a microsecond.
 */
bool rex_is_pageable_now(const void *address);

/* Returns true if the driver has pinned the byte at ADDRESS for librex (rex/device.h). */
bool rex_is_pinned(const void *address);

/*
 * Returns true if the driver has pinned all SIZE bytes at ADDRESS for librex as one range. Does not
 * ask the driver.
 */
bool rex_is_pinned_whole(const void *address, size_t size);

/* Returns true if the program has any memory of rex_host_alloc() or rex_host_register(). */
bool rex_is_any_pinned(void);

#endif
