/*
 * tracetext.h - the text of a trace: a line of JSON, the words for what stands in it, and the table
 * of the summary.
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

#define REX_LINE_MAX 16384 /* bytes of one */

struct rex_line {
    char *text; /* REX_LINE_MAX bytes */
    size_t length;
    bool full; /* something did not fit */
};

/*
 * Without a format, which would take longer than the rest of a slice: text as it is, and with the
 * text BEFORE it a number, an address, nanoseconds in microseconds with three digits behind the
 * point.
 */
void rex_line_bytes(struct rex_line *line, const void *bytes, size_t size);
static inline void rex_line_text(struct rex_line *line, const char *text)
{
    rex_line_bytes(line, text, strlen(text)); /* known to the compiler if TEXT is a literal */
}
void rex_line_number(struct rex_line *line, const char *before, int64_t number);
void rex_line_hexadecimal(struct rex_line *line, const char *before, uint64_t number);
void rex_line_time(struct rex_line *line, const char *before, uint64_t nanoseconds);

/* TEXT in quotes; what is no UTF-8 in it is replaced, what is too long for a line is cut. */
void rex_line_string(struct rex_line *line, const char *before, const char *text);

/* ,"key":... and so on: what a launch asks for. */
void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3],
                     const uint32_t threads[3], int64_t arguments);

/*
 * TYPE in words, "to|from|target_param": the names are those of libomptarget's enumerators. "alloc"
 * for 0.
 */
#define REX_TYPE_MAX 256 /* bytes; all words together have fewer */
void rex_type_text(int64_t type, char text[REX_TYPE_MAX]);

/* ,"rows":[...]: what COUNT rows of a map say, the first of them, and which memory IS_PINNED. */
void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes,
                   const int64_t *types, bool (*is_pinned)(const void *address));

/* Bytes that rows ask to be copied in DIRECTION, REX_MAP_TO or REX_MAP_FROM. */
uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types,
                        int64_t direction);

/* ---- the summary: not locked, trace.c does that ---------------------------------------------- */

/* Counts SLICE where it says, and how many launches were deferred. */
void rex_summary_add(const struct rex_slice *slice);

/* The table, on standard error; nothing where nothing was added. */
void rex_summary_print(void);

void rex_summary_forget(void);

#endif
