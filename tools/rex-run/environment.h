/*
 * environment.h - what the program starts with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ENVIRONMENT_H
#define REX_RUN_ENVIRONMENT_H

/*
 * Put VALUE in front of the list in VARIABLE, whose parts a ':' separates; it must not contain one
 * of SEPARATORS.
 */
void put_in_front(const char *variable, const char *value, const char *separators);

/* Preload the librex that rex-run itself uses, and have it adopt what it finds. */
void preload_librex(void);

#endif
