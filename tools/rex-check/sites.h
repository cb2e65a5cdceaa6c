/*
 * sites.h - finds code and data that refer to host keys.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SITES_H
#define CHECK_SITES_H

#include "program.h"

/*
 * Finds the launch sites whose key is in no entry, and counts all sites. Call it after
 * symbols_name().
 */
void sites_find(struct program *program);

#endif
