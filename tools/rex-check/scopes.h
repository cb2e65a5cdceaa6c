/*
 * scopes.h - the brackets that are open, and the names that are declared in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SCOPES_H
#define CHECK_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h"

/* No token, no name. */
#define NONE SIZE_MAX

/* A bracket that is open. Names declared in it are forgotten at END. */
struct bracket {
    size_t open, end, declared;
};

struct scopes {
    const struct tokens *tokens;
    struct bracket *brackets;
    size_t *names;   /* the token that declares each name, in their order */
    size_t *visible; /* those that can be used */
    size_t *hidden;  /* of each name: the next with the same hash */
    size_t *buckets;
    size_t bracket_count, name_count, visible_count, mask;
};

void scopes_begin(struct scopes *scopes, const struct tokens *tokens);
void scopes_end(struct scopes *scopes);

/* Go on to the token INDEX: open the bracket that it is, close those that end there. */
void scopes_step(struct scopes *scopes, size_t index);

/* Declare the name at INDEX: its number. The number of the one that NAME means, or NONE. */
size_t scopes_declare(struct scopes *scopes, size_t index);
size_t scopes_find(const struct scopes *scopes, const struct token *name);

/* The innermost parentheses or braces, which may have been closed in front of their body; or NULL.
 */
const struct bracket *scopes_innermost(const struct scopes *scopes);

/*
 * The name of the function whose argument INDEX is, parentheses around it passed over, or the
 * brace of the values that it is one of; NONE where it is neither.
 */
size_t scopes_asker(const struct scopes *scopes, size_t index);

#endif
