/*
 * keys.h - finds host keys that are in no entry.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_KEYS_H
#define CHECK_KEYS_H

#include "program.h"
#include "report.h"

void check_keys(const struct program *program, struct report *report);

#endif
