/*
 * contract.h - the names and numbers that a code generator writes itself, and what librex adapts
 * for each release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_CONTRACT_H
#define REX_INFO_CONTRACT_H

#include <stdbool.h>

/*
 * Prints the names, numbers and link libraries that a code generator needs, as lines or as members
 * of a JSON object.
 */
void contract_print(bool json);

/*
 * Prints librex's adaptations to each LLVM release that librex knows, as lines or as a member of a
 * JSON object.
 */
void contract_print_releases(bool json);

#endif
