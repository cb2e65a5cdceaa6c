/*
 * retained.h - image bytes that stay for the life of the process.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RETAINED_H
#define REX_INTERNAL_RETAINED_H

#include <stddef.h>

/* The bytes that are kept and equal to these, NULL if there are none. */
unsigned char *rex_kept(const unsigned char *bytes, size_t size);

/*
 * From here on BYTES, of malloc(), are never freed: libomptarget 15 to 20 read every image again at
 * each later registration. 0 or REX_ENOMEM.
 */
int rex_keep(unsigned char *bytes, size_t size);

#endif
