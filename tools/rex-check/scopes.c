/*
 * scopes.c - the brackets that are open, and the names that are declared in them.
 *
 * Not a compiler's scopes, but those of generated code: a name means what was declared last in a
 * bracket that is still open.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "scopes.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- names ----------------------------------------------------------------------------------- */

static size_t *bucket_of(const struct scopes *scopes, const struct token *name)
{
    size_t hash = 5381;
    for (size_t i = 0; i < name->length; i++)
        hash = hash * 33 + (unsigned char)name->text[i];
    return &scopes->buckets[hash & scopes->mask];
}

static bool same_name(const struct scopes *scopes, size_t number, const struct token *name)
{
    const struct token *own = &scopes->tokens->list[scopes->names[number]];
    return own->length == name->length && memcmp(own->text, name->text, name->length) == 0;
}

size_t scopes_find(const struct scopes *scopes, const struct token *name)
{
    size_t number = *bucket_of(scopes, name);
    while (number != NONE && !same_name(scopes, number, name))
        number = scopes->hidden[number];
    return number;
}

size_t scopes_declare(struct scopes *scopes, size_t index)
{
    size_t number = scopes->name_count++;
    size_t *bucket = bucket_of(scopes, &scopes->tokens->list[index]);
    scopes->names = tool_grow(scopes->names, number, sizeof *scopes->names);
    scopes->hidden = tool_grow(scopes->hidden, number, sizeof *scopes->hidden);
    scopes->visible = tool_grow(scopes->visible, number, sizeof *scopes->visible);
    scopes->names[number] = index;
    scopes->hidden[number] = *bucket;
    scopes->visible[scopes->visible_count++] = number;
    *bucket = number;
    return number;
}

static void forget(struct scopes *scopes, size_t declared)
{
    while (scopes->visible_count > declared) {
        size_t number = scopes->visible[--scopes->visible_count];
        *bucket_of(scopes, &scopes->tokens->list[scopes->names[number]]) = scopes->hidden[number];
    }
}

/* ---- brackets -------------------------------------------------------------------------------- */

/* What is declared in the parentheses of a function or a loop is known in its body, too. */
static void open_bracket(struct scopes *scopes, size_t index)
{
    const struct tokens *tokens = scopes->tokens;
    size_t end = token_closing(tokens, index);
    if (token_is(&tokens->list[index], "(") && token_is(token_at(tokens, end + 1), "{"))
        end = token_closing(tokens, end + 1);
    scopes->brackets = tool_grow(scopes->brackets, scopes->bracket_count, sizeof *scopes->brackets);
    scopes->brackets[scopes->bracket_count++] = (struct bracket){index, end, scopes->visible_count};
}

/* The constants of an enum are known behind it. */
static bool is_enum(const struct tokens *tokens, size_t index)
{
    return token_is(token_before(tokens, index, 1), "enum") ||
           token_is(token_before(tokens, index, 2), "enum");
}

void scopes_step(struct scopes *scopes, size_t index)
{
    const struct token *token = &scopes->tokens->list[index];
    while (scopes->bracket_count > 0 && scopes->brackets[scopes->bracket_count - 1].end <= index)
        forget(scopes, scopes->brackets[--scopes->bracket_count].declared);
    if (token_is(token, "(") || (token_is(token, "{") && !is_enum(scopes->tokens, index)))
        open_bracket(scopes, index);
}

const struct bracket *scopes_innermost(const struct scopes *scopes)
{
    return scopes->bracket_count > 0 ? &scopes->brackets[scopes->bracket_count - 1] : NULL;
}

size_t scopes_asker(const struct scopes *scopes, size_t index)
{
    const struct tokens *tokens = scopes->tokens;
    size_t passed = 0;
    for (size_t i = scopes->bracket_count; i-- > 0 && passed < 8; passed++) {
        size_t open = scopes->brackets[i].open;
        if (token_closing(tokens, open) < index)
            return NONE; /* the body of what has these parentheses */
        if (token_is(&tokens->list[open], "{"))
            return token_is(token_before(tokens, open, 1), "=") ? open : NONE;
        if (token_before(tokens, open, 1)->kind == TOKEN_NAME)
            return open - 1;
    }
    return NONE;
}

/* ---------------------------------------------------------------------------------------------- */

void scopes_begin(struct scopes *scopes, const struct tokens *tokens)
{
    size_t buckets = 64;
    while (buckets < tokens->count)
        buckets *= 2;
    *scopes = (struct scopes){.tokens = tokens, .mask = buckets - 1};
    scopes->buckets = tool_alloc(buckets, sizeof *scopes->buckets);
    for (size_t i = 0; i < buckets; i++)
        scopes->buckets[i] = NONE;
}

void scopes_end(struct scopes *scopes)
{
    free(scopes->brackets);
    free(scopes->names);
    free(scopes->visible);
    free(scopes->hidden);
    free(scopes->buckets);
}
