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
 * Prints TEXT. Each byte for which rex_shown_length() (base/text.h) returns 0 becomes \xNN: such
 * bytes could command a terminal.
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
 * print_begin() makes the tool ignore SIGXFSZ. After that, output to a file that gets too large is
 * an error, and does not kill the tool. print_end() returns NULL if the whole output was written.
 * If output was lost, print_end() returns the reason.
 */
void print_begin(void);
const char *print_end(void);

/*
 * Returns true if the tool may print colours to OUT: OUT is a terminal, NO_COLOR is unset or empty,
 * and TERM is not "dumb".
 */
bool print_colour(FILE *out);

#endif
