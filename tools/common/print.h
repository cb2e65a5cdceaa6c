/*
 * print.h - text that others wrote, on a terminal and in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_PRINT_H
#define TOOLS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * TEXT with bytes that could command a terminal as \xNN: control characters, of ASCII and those
 * above it (U+0080 to U+009F), and what is no UTF-8.
 */
void print_text(FILE *out, const char *text);

/* "PROGRAM: TEXT" as a line of standard error, with TEXT as print_text() has it. */
void tool_error(const char *program, const char *text);

/*
 * TEXT as a string of JSON, with its quotes; null for NULL. Bytes that are no UTF-8 become U+FFFD.
 */
void print_json(FILE *out, const char *text);

/*
 * Checks that the whole output was written: NULL, or the reason why not. Behind print_begin() a
 * file that gets too large is such a reason, and does not kill the tool.
 */
void print_begin(void);
const char *print_end(void);

/*
 * Whether to use colour for OUT: a terminal, unless NO_COLOR is set and not empty, or TERM says
 * dumb.
 */
bool print_colour(FILE *out);

#endif
