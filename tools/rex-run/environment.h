/*
 * environment.h - sets the environment of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ENVIRONMENT_H
#define REX_RUN_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Characters that a folder's name must not have. In LD_LIBRARY_PATH the loader ends a folder at ':'
 * and ';', and expands '$'. A newline would split a line of the loader's list of libraries
 * (loader.c).
 */
#define SEPARATORS ":;$\n"

/*
 * Puts VALUE first in the environment variable VARIABLE, a list of values with ':' between them.
 * Exits if VALUE contains one of SEPARATORS.
 */
void put_in_front(const char *variable, const char *value, const char *separators);

/*
 * Sets VARIABLE to BEFORE, followed by the absolute path of the file NAME. The path is absolute,
 * because the program may change its folder before librex opens the file. NAME may contain %p. Each
 * % in the folder's name becomes %%. If is_setting(NAME) is true, sets VARIABLE to BEFORE, followed
 * by NAME itself.
 */
void set_file(const char *variable, const char *before, const char *name);

/* Returns true if NAME is a word that librex does not treat as a file name. */
bool is_setting(const char *name);

/*
 * Sets LD_PRELOAD, so that the program loads the librex that rex-run uses. Sets REX_ADOPT to "on":
 * this librex then adopts modules that code of other compilers registers with libomptarget.
 */
void preload_librex(void);

#endif
