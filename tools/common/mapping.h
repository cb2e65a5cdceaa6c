/*
 * mapping.h - a file of any size, mapped, not read.
 *
 * For tools. Parts of a file that are not read take address space, and no memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_MAPPING_H
#define TOOLS_MAPPING_H

#include <stddef.h>
#include <sys/stat.h>

#define MAPPING_WHY 160 /* bytes that a reason takes at most */

/*
 * Open PATH if it is a regular file that is not empty: its descriptor, with its STATUS, or -1 with
 * the reason in WHY.
 */
int mapping_open(const char *path, struct stat *status, char why[MAPPING_WHY]);

/* All bytes of the file, to be given back by mapping_end(); NULL with the reason in WHY. */
const void *mapping_make(int descriptor, const struct stat *status, char why[MAPPING_WHY]);
void mapping_end(const void *bytes, size_t size);

#endif
