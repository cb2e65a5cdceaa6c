/*
 * constants.h - the numbers that expressions in a host source stand for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_CONSTANTS_H
#define CHECK_CONSTANTS_H

#include "variables.h"

/* Find out which variables are constants. */
void constants_find(struct variables *variables);

/*
 * Whether the expression at INDEX, up to a comma, semicolon or closing bracket, is a constant; its
 * value.
 */
bool constant_at(const struct variables *variables, size_t index, int64_t *value);

/* The size of the type at INDEX, the first token behind sizeof's parenthesis; 0: not known. */
size_t constant_size(const struct tokens *tokens, size_t index);

#endif
