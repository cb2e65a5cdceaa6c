/*
 * variables.h - the variables of a host source, and which of them each name means.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_VARIABLES_H
#define CHECK_VARIABLES_H

#include "declare.h"

/* ARRAY[...] = VALUE or PACKET.FIELD = VALUE; NAME is ARRAY or FIELD. */
struct assignment {
    size_t name, value;
    size_t previous; /* of the same variable */
};

struct variables {
    const struct tokens *tokens;
    struct variable *list;
    struct assignment *assignments;
    size_t *of_token; /* the variable that the name at a token means */
    size_t count, assignment_count;
};

void variables_read(struct variables *variables, const struct tokens *tokens);
void variables_free(struct variables *variables);

/* The variable that the name at INDEX means, or NULL. */
struct variable *variable_at(const struct variables *variables, size_t index);

#endif
