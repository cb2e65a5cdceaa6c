/*
 * abi.h - the part of the ABI that a program needs to call librex and libomptarget without headers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_ABI_H
#define REX_INFO_ABI_H

#include <stdbool.h>

/* Prints the sizes of the structs that libomptarget and librex share with a program. */
void abi_print_sizes(bool json);

/*
 * Prints every struct, constant and function of the ABI. Reads the exported functions from LIBRARY,
 * which is librex.so. Returns 0. If the symbols of LIBRARY cannot be read, returns -1, with the
 * reason in *WHY.
 */
int abi_print(bool json, const char *library, const char **why);

#endif
