/*
 * print.h - prints text of unknown origin, to a terminal and in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_PRINT_H
#define TOOLS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints TEXT. Bytes that could command a terminal become \xNN: control characters, ASCII or U+0080
 * to U+009F, and invalid UTF-8.
 */
void print_text(FILE *out, const char *text);

/* Writes "PROGRAM: TEXT" as a line to standard error, escaped as print_text() does. */
void tool_error(const char *program, const char *text);

/*
 * Prints TEXT as a JSON string with quotes, or null for NULL. Bytes that are not UTF-8 become
 * U+FFFD.
 */
void print_json(FILE *out, const char *text);

/*
 * print_end() checks that the whole output was written. Returns NULL, or the reason why output was
 * lost. After print_begin() a file that gets too large is such a reason, and does not kill the
 * tool.
 */
void print_begin(void);
const char *print_end(void);

/*
 * Returns true if OUT takes colour: a terminal, unless NO_COLOR is set and not empty, or TERM is
 * "dumb".
 */
bool print_colour(FILE *out);

#endif
