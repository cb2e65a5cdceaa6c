/*
 * loader.h - whether shared objects can be opened.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOADER_H
#define REX_INTERNAL_LOADER_H

#include <stdbool.h>

/*
 * False in a program that was linked with -static or -static-pie. What dlopen() opens there brings
 * a second C library with it, and the process crashes in that one.
 */
bool rex_can_open_libraries(void);

#endif
