/*
 * logfile.h - where lines go.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOGFILE_H
#define REX_INTERNAL_LOGFILE_H

#include <stddef.h>

/*
 * From now on lines go to the file NAME, where "%p" stands for the number of the process; "": to
 * standard error. By one thread at a time.
 */
void rex_logfile_set(const char *name);

/* Write LINE, of SIZE bytes, in one piece. By one thread at a time. */
void rex_logfile_write(const char *line, size_t size);

#endif
