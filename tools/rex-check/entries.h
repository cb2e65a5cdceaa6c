/*
 * entries.h - checks the tables and entries of a program, without images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_ENTRIES_H
#define CHECK_ENTRIES_H

#include "program.h"
#include "report.h"

void check_entries(const struct program *program, struct report *report);

#endif
