/*
 * environment.h - what the program starts with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ENVIRONMENT_H
#define REX_RUN_ENVIRONMENT_H

#include <stdbool.h>

/*
 * The loader ends a folder at these, or replaces them in it; its list of libraries has one a line.
 */
#define SEPARATORS ":;$\n"

/*
 * Put VALUE in front of the list in VARIABLE, whose parts a ':' separates; it must not contain one
 * of SEPARATORS.
 */
void put_in_front(const char *variable, const char *value, const char *separators);

/*
 * Set VARIABLE to BEFORE and the absolute NAME of a file, because the program may change its folder
 * before librex opens the file. NAME may have %p in it; a % in the folder's own name is doubled.
 */
void set_file(const char *variable, const char *before, const char *name);

/* Whether NAME is a word that the library does not take for the name of a trace. */
bool is_setting(const char *name);

/* Preload the librex that rex-run itself uses, and have it adopt what it finds. */
void preload_librex(void);

#endif
