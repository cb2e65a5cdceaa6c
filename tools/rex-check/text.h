/*
 * text.h - prints, for people to read, the report on a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TEXT_H
#define CHECK_TEXT_H

#include "images.h"
#include "program.h"
#include "report.h"

/* Prints the table, the rows and the remarks; if QUIET is true, only the remarks. */
void show_text(const struct program *program, const struct images *images,
               const struct report *report, bool quiet, bool colour);

#endif
