/*
 * sites.h - finds code and data that refer to host keys.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SITES_H
#define CHECK_SITES_H

#include "program.h"

/*
 * Counts the launch sites (code or data that refers to a host key), and stores the sites whose key
 * is in no entry. Call this function after symbols_name().
 */
void sites_find(struct program *program);

#endif
