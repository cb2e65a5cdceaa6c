/*
 * mapping.h - maps a file of any size instead of reading it.
 *
 * For tools. Unread parts of a file take address space, but no memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_MAPPING_H
#define TOOLS_MAPPING_H

#include <stddef.h>
#include <sys/stat.h>

#define MAPPING_WHY 160 /* maximum size of a reason, in bytes */

/*
 * Opens PATH if it is a regular file that is not empty. Returns the descriptor, and stores the
 * status of the file in *STATUS. On failure returns -1, with the reason in WHY.
 */
int mapping_open(const char *path, struct stat *status, char why[MAPPING_WHY]);

/*
 * Maps all bytes of the file, and returns their address. mapping_end() unmaps the bytes. On failure
 * returns NULL, with the reason in WHY.
 */
const void *mapping_make(int descriptor, const struct stat *status, char why[MAPPING_WHY]);
void mapping_end(const void *bytes, size_t size);

#endif
