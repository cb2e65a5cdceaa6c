/*
 * summary.h - what runs here, on what, and what is wrong, in one line.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_SUMMARY_H
#define REX_INFO_SUMMARY_H

#include <stdbool.h>

#include "devices.h"
#include "facts.h"

/* The line, or a member of a JSON object. HOST is NULL where there is no libomptarget. */
void summary_print(const struct facts *facts, const struct host *host, bool json);

#endif
