/*
 * declare.h - declarations of variables in a host source.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_DECLARE_H
#define CHECK_DECLARE_H

#include "scopes.h"

enum variable_kind {
    VARIABLE_VALUE,
    VARIABLE_ARRAY,     /* one with brackets */
    VARIABLE_ALLOCATED, /* what malloc() or its kin have returned */
    VARIABLE_PACKET     /* a struct __tgt_kernel_arguments */
};

/* Where nothing else is said, fields are numbers of tokens, or NONE. */
struct variable {
    enum variable_kind kind;
    size_t name;
    size_t value;           /* where its value begins; of an array or packet the brace */
    size_t length;          /* what stands in an array's brackets */
    bool changed;           /* it holds, or may hold, something else than VALUE */
    bool given;             /* to code that may free it */
    size_t freed;           /* the last time */
    size_t used;            /* as a column of a call, the last time; set by who looks at calls */
    size_t assignments;     /* how many elements or fields are assigned */
    size_t last_assignment; /* an index of struct variables.assignments */
    size_t elements;        /* between an array's braces; set by who looks at calls */
    bool judged;            /* the literal rows of this column */
    bool known;             /* it is a constant, NUMBER; set by constants_find() */
    int64_t number;
};

/* Whether the name at INDEX is declared there, and what is said of it then. */
bool declares(const struct scopes *scopes, size_t index);
struct variable declared(const struct scopes *scopes, size_t index);

/* Whether the function NAME allocates memory; whether the value at INDEX is such a call. */
bool allocates(const struct token *name);
bool is_allocation(const struct tokens *tokens, size_t index);

#endif
