/*
 * loader.h - whether shared objects can be opened, and which one an address lies in.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOADER_H
#define REX_INTERNAL_LOADER_H

#include <limits.h>
#include <stdbool.h>

/*
 * False in a program that was linked with -static or -static-pie. What dlopen() opens there brings
 * a second C library with it, and the process crashes in that one.
 */
bool rex_can_open_libraries(void);

/* Whether ADDRESS is in the main program. PATH gets the file of its binary, "" for the program. */
bool rex_in_program(const void *address, char path[PATH_MAX]);

/* dlclose() unloads the shared object of ADDRESS, at PATH, no more. False where that failed. */
bool rex_keep_loaded(const void *address, char path[PATH_MAX]);

#endif
