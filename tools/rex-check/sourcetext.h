/*
 * sourcetext.h - sources in memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SOURCETEXT_H
#define CHECK_SOURCETEXT_H

#include <stddef.h>

struct source_text {
    char *bytes;
    size_t size;
};

/* Read the file PATH, which may be a pipe. 0, or -1 with the reason in WHY. */
int source_text_read(const char *path, struct source_text *text, char why[256]);

#endif
