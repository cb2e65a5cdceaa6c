/*
 * declare.c - declarations of variables in a host source.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "declare.h"

#include <string.h>

bool allocates(const struct token *name)
{
    static const char *const words[] = {"malloc", "calloc", "realloc", "aligned_alloc", NULL};
    return token_is_any(name, words);
}

static bool is_type(const struct token *token)
{
    static const char *const others[] = {"return", "else", "do",     "goto",     "case", "sizeof",
                                         "throw",  "new",  "delete", "typename", NULL};
    return token->kind == TOKEN_NAME && !token_is_any(token, others);
}

/* The first token of the type in front of the name at INDEX, a pointer's; NONE: it is none. */
static size_t pointed_type(const struct scopes *scopes, size_t index)
{
    size_t at = index;
    while (at > 0 && index - at < 8 && token_is(token_before(scopes->tokens, at, 1), "*"))
        at--;
    while (at > 0 && index - at < 8 && is_type(token_before(scopes->tokens, at, 1)))
        at--;
    return at < index && is_type(&scopes->tokens->list[at]) ? at : NONE;
}

/* A product, or a call's argument, looks like `type *name`, too. */
static bool begins(const struct scopes *scopes, size_t type)
{
    const struct token *front = token_before(scopes->tokens, type, 1);
    const struct bracket *in = scopes_innermost(scopes);
    if (token_is(front, "(") || token_is(front, ","))
        return in != NULL && token_closing(scopes->tokens, in->open) != in->end;
    return front->length == 0 || token_is(front, ";") || token_is(front, "{") ||
           token_is(front, "}") || token_is(front, ")");
}

bool declares(const struct scopes *scopes, size_t index)
{
    const struct token *next = token_at(scopes->tokens, index + 1);
    if (next->kind != TOKEN_MARK || next->length == 0 || strchr("=;,)[:", *next->text) == NULL)
        return false;
    if (is_type(token_before(scopes->tokens, index, 1)))
        return true;
    if (!token_is(token_before(scopes->tokens, index, 1), "*"))
        return false;
    size_t type = pointed_type(scopes, index);
    return type != NONE && begins(scopes, type);
}

/* Casts and the like stand before the name of the function. */
bool is_allocation(const struct tokens *tokens, size_t index)
{
    for (size_t i = index; i < index + 12 && i < tokens->count; i++) {
        if (token_is(&tokens->list[i], ";") || token_is(&tokens->list[i], ","))
            return false;
        if (allocates(&tokens->list[i]) || token_is(&tokens->list[i], "new"))
            return true;
    }
    return false;
}

struct variable declared(const struct scopes *scopes, size_t index)
{
    const struct tokens *tokens = scopes->tokens;
    struct variable variable = {.name = index, .value = NONE, .length = NONE};
    size_t next = token_behind_brackets(tokens, index + 1);
    bool packet = token_is(token_before(scopes->tokens, index, 1), "__tgt_kernel_arguments");
    bool braces =
        token_is(token_at(tokens, next), "=") && token_is(token_at(tokens, next + 1), "{");
    variable.kind = packet && next == index + 1 ? VARIABLE_PACKET
                    : next > index + 1          ? VARIABLE_ARRAY
                                                : VARIABLE_VALUE;
    if (next > index + 1 && !token_is(token_at(tokens, index + 2), "]"))
        variable.length = index + 2;
    if (variable.kind == VARIABLE_VALUE ? token_is(token_at(tokens, next), "=") : braces)
        variable.value = next + 1;
    if (variable.kind == VARIABLE_VALUE && is_allocation(tokens, variable.value))
        variable.kind = VARIABLE_ALLOCATED;
    const struct bracket *in = scopes_innermost(scopes);
    bool parameter = in != NULL && token_is(&tokens->list[in->open], "(") &&
                     index < token_closing(tokens, in->open);
    variable.changed = parameter || (variable.value == NONE && variable.kind != VARIABLE_PACKET);
    return variable;
}
