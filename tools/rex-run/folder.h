/*
 * folder.h - a private folder with links to libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_FOLDER_H
#define REX_RUN_FOLDER_H

#include <stddef.h>

/*
 * Makes the folder, or exits if that fails. Returns the folder's path, which stays valid. die()
 * removes the folder. Before the process ends in any other way, call remove_folder().
 */
const char *make_folder(void);

/*
 * Makes a link in the folder. The link's name is the first LENGTH bytes of NAME; TO is its target.
 */
void make_link(const char *name, size_t length, const char *to);

/* Removes the folder, if it was made. */
void remove_folder(void);

#endif
