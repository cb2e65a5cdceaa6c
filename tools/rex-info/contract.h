/*
 * contract.h - what a code generator writes by itself, and what is done for each release.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_CONTRACT_H
#define REX_INFO_CONTRACT_H

#include <stdbool.h>

/* Names, numbers and what to link, as lines or as members of a JSON object. */
void contract_print(bool json);

/* The adaptations for each release that librex knows; likewise. */
void contract_print_releases(bool json);

#endif
