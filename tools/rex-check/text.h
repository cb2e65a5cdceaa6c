/*
 * text.h - the report on a program for people.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TEXT_H
#define CHECK_TEXT_H

#include "images.h"
#include "program.h"
#include "report.h"

/* The table, the rows and what was found out about them; QUIET: the last alone. */
void show_text(const struct program *program, const struct images *images,
               const struct report *report, bool quiet, bool colour);

#endif
