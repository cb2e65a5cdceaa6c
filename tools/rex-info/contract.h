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

/* What librex adapts for each release that it knows; likewise. */
void contract_print_releases(bool json);

#endif
