/*
 * calls.h - launches and data calls in a host source, and the columns that they are given.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_CALLS_H
#define CHECK_CALLS_H

#include "variables.h"

enum call_kind { CALL_LAUNCH, CALL_BEGIN, CALL_END, CALL_UPDATE, CALL_RETURN };

enum column { COLUMN_BASE, COLUMN_BEGIN, COLUMN_SIZE, COLUMN_TYPE, COLUMNS };

/* A call, or a return between them. All but KIND are tokens where something begins, or NONE. */
struct call {
    enum call_kind kind;
    size_t name; /* of the function */
    size_t body; /* the end of the function that it is in */
    size_t key, rows, version, columns[COLUMNS];
    bool no_version; /* the packet is filled, but for its version */
};

struct calls {
    struct variables *variables;
    struct call *list;
    size_t count;
};

/* Find them. Columns are marked as used. */
void calls_read(struct calls *calls, struct variables *variables);
void calls_free(struct calls *calls);

/* The array that COLUMN of CALL is, named by itself or by another pointer; NULL: not known. */
struct variable *call_column(const struct calls *calls, const struct call *call,
                             enum column column);

/* How many tokens in braces or parentheses at OPEN stand between commas. */
size_t elements_in(const struct tokens *tokens, size_t open);

/*
 * The element behind ELEMENT, or behind the bracket that opens: its first token, and the one
 * behind it in *END; NONE behind the last.
 */
size_t element_next(const struct tokens *tokens, size_t element, size_t *end);

/* Whether the tokens of two elements, up to their ends, are the same; parentheses do not count. */
bool elements_same(const struct tokens *tokens, size_t one, size_t one_end, size_t other,
                   size_t other_end);

/* The end of the value at INDEX: a comma, semicolon or the bracket around it. */
size_t element_end(const struct tokens *tokens, size_t index);

/* The token behind & of the key in the expression at INDEX, or the macro that gives it; or NONE. */
size_t key_in(const struct variables *variables, size_t index);

#endif
