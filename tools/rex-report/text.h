/*
 * text.h - prints a report to a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TEXT_H
#define REX_REPORT_TEXT_H

#include "study.h"

void text_write(FILE *out, const struct study *study);

#endif
