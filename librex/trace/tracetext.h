/*
 * tracetext.h - writes the text of a trace: lines of JSON, map types in words, and the table of the
 * summary.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRACETEXT_H
#define REX_INTERNAL_TRACETEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/trace.h"

#define REX_LINE_MAX 16384 /* maximum length of a line in bytes, with the NUL */

struct rex_line {
    char *text; /* REX_LINE_MAX bytes */
    size_t length;
    bool full; /* the line is not written: a text did not fit into it, or no file is open */
};

/*
 * These functions append bytes, a text, a number, an address or a time to LINE. If a function has a
 * parameter BEFORE, the function appends BEFORE first. A time is in microseconds with three
 * decimals. The functions do not call printf(): one call of printf() takes longer than all other
 * code that writes a slice.
 */
void rex_line_bytes(struct rex_line *line, const void *bytes, size_t size);
static inline void rex_line_text(struct rex_line *line, const char *text)
{
    rex_line_bytes(line, text, strlen(text)); /* inline: the length of a literal is a constant */
}
void rex_line_number(struct rex_line *line, const char *before, int64_t number);
void rex_line_hexadecimal(struct rex_line *line, const char *before, uint64_t number);
void rex_line_time(struct rex_line *line, const char *before, uint64_t nanoseconds);

/*
 * Appends BEFORE, and then TEXT as a JSON string. Replaces bytes that are not UTF-8, and cuts TEXT
 * after 1024 bytes.
 */
void rex_line_string(struct rex_line *line, const char *before, const char *text);

/* Appends the members "key", "teams", "threads" and "arguments" of a launch. */
void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3],
                     const uint32_t threads[3], int64_t arguments);

/*
 * Writes the words for the map type TYPE to TEXT, such as "to|from|target_param". The words come
 * from the names of libomptarget's enumerators. A TYPE of 0 is "alloc".
 */
#define REX_TYPE_MAX 256 /* size of TEXT in bytes; all words together are shorter */
void rex_type_text(int64_t type, char text[REX_TYPE_MAX]);

/*
 * Appends ,"rows":[...] with the first 32 of COUNT rows of a map. A row is marked as pinned if
 * IS_PINNED returns true for the row's address.
 */
void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes,
                   const int64_t *types, bool (*is_pinned)(const void *address));

/* Returns the number of bytes that the rows copy in DIRECTION, REX_MAP_TO or REX_MAP_FROM. */
uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types,
                        int64_t direction);

/* ---- the summary: trace.c holds the output lock ---------------------------------------------- */

/* Adds the time of SLICE to the summary. If SLICE is a deferred launch, also counts the launch. */
void rex_summary_add(const struct rex_slice *slice);

/* Writes the summary to standard error if the summary is not empty. */
void rex_summary_print(void);

/* Empties the summary. */
void rex_summary_forget(void);

#endif
