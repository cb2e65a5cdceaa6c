/*
 * summary.h - prints one line: the libomptarget, the devices that it can use, and what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_SUMMARY_H
#define REX_INFO_SUMMARY_H

#include <stdbool.h>

#include "devices.h"
#include "facts.h"

/*
 * Prints the summary as a line, or as a member of a JSON object if JSON is true. HOST must be NULL
 * if there is no libomptarget.
 */
void summary_print(const struct facts *facts, const struct host *host, bool json);

#endif
