/*
 * text.h - escaped text for messages and for JSON.
 *
 * The tools also link text.c, so text.c needs nothing but libc.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TEXT_H
#define REX_INTERNAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Expands to the two arguments of "%.*s" that print SYMBOL without the ending __kernel__: axpy for
 * axpy__kernel__.
 */
#define REX_KERNEL_NAME(symbol) rex_kernel_name_length(symbol), (symbol)
int rex_kernel_name_length(const char *symbol);

/*
 * Maximum length of a message, in bytes with the NUL. A message may list many rejected libraries.
 */
#define REX_MESSAGE_MAX 4096

/*
 * Returns the length in bytes of the UTF-8 character at TEXT. TEXT must end in a NUL. Returns 0 if
 * the bytes are not UTF-8, or if the character must be escaped: a control character, a line or
 * paragraph separator, or a character that reorders the text around it.
 */
size_t rex_shown_length(const char *text);

/*
 * Writes the character at *TEXT to WRITTEN, escaped for a JSON string, and moves *TEXT to the next
 * character. A byte that is not UTF-8 becomes U+FFFD. Returns the number of bytes written.
 */
#define REX_JSON_MAX 8
size_t rex_json_character(const char **text, char written[REX_JSON_MAX]);

/*
 * Escapes TEXT: \xNN replaces each byte for which rex_shown_length() returns 0, except bytes in
 * KEPT. Cuts TEXT to SIZE bytes. KEPT is "", or "\n" for lists of text that is escaped already. A
 * second call for an escaped TEXT changes nothing.
 */
void rex_escape(char *text, size_t size, const char *kept);

#endif
