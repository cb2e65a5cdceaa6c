/*
 * folder.h - a private folder with links to libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_FOLDER_H
#define REX_RUN_FOLDER_H

#include <stddef.h>

/*
 * Make the folder, which die() removes, and whoever ends the process otherwise has to. Its path,
 * which lasts. Exits where it cannot be made.
 */
const char *make_folder(void);

/* A link in it, called as the first LENGTH bytes of NAME, that leads TO a file. */
void make_link(const char *name, size_t length, const char *to);

/* Remove it, where there is one. */
void remove_folder(void);

#endif
