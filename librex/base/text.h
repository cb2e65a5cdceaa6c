/*
 * text.h - characters of text that others wrote, in messages and in JSON.
 *
 * The tools write with it, too: it needs nothing but libc.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TEXT_H
#define REX_INTERNAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For "%.*s": a kernel's name as the program writes it, axpy of the SYMBOL axpy__kernel__; any
 * other text as it is.
 */
#define REX_KERNEL_NAME(symbol) rex_kernel_name_length(symbol), (symbol)
int rex_kernel_name_length(const char *symbol);

/* Longest message, in bytes with its NUL: a list of rejected libraries is the longest there is. */
#define REX_MESSAGE_MAX 4096

/*
 * Bytes of the UTF-8 character at TEXT, which has a NUL at its end; 0: there is none, or it could
 * begin another line, command a terminal or reorder the text around it: control characters, of
 * ASCII and those above it, and separators of lines.
 */
size_t rex_shown_length(const char *text);

/*
 * The character at *TEXT, as a string of JSON has it, in WRITTEN, and *TEXT behind it; U+FFFD for a
 * byte that is no UTF-8. Returns the bytes written.
 */
#define REX_JSON_MAX 8
size_t rex_json_character(const char **text, char written[REX_JSON_MAX]);

/*
 * The bytes of TEXT that rex_shown_length() does not take become \xNN, but for those of KEPT. The
 * end that then has no room in the SIZE bytes of TEXT is cut off. To do it twice is as good as
 * once. KEPT is "", or "\n" for lists that librex has made of pieces escaped before.
 */
void rex_escape(char *text, size_t size, const char *kept);

#endif
