/*
 * constants.c - the numbers that expressions in a host source stand for.
 *
 * What generated code writes: numbers, sums, products, shifts and unions of bits, casts, sizes of
 * the language's own types, and names of all these. Of everything else nothing is known.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "constants.h"

#include <stdlib.h>
#include <string.h>

/* An expression that is read: where, what is known of it, and how deep in parentheses. */
struct expression {
    const struct variables *variables;
    size_t at;
    int depth;
    bool known;
};

static const struct token *here(const struct expression *expression)
{
    return token_at(expression->variables->tokens, expression->at);
}

static uint64_t unknown(struct expression *expression)
{
    expression->known = false;
    return 0;
}

static uint64_t read_union(struct expression *expression);

/* ---- sizes ----------------------------------------------------------------------------------- */

static size_t size_of_word(const struct token *word)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"char", 1},     {"int8_t", 1},   {"uint8_t", 1}, {"bool", 1},
                 {"_Bool", 1},    {"short", 2},    {"int16_t", 2}, {"uint16_t", 2},
                 {"int", 4},      {"unsigned", 4}, {"signed", 4},  {"float", 4},
                 {"int32_t", 4},  {"uint32_t", 4}, {"long", 8},    {"double", 8},
                 {"int64_t", 8},  {"uint64_t", 8}, {"size_t", 8},  {"ptrdiff_t", 8},
                 {"intptr_t", 8}, {"uintptr_t", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (token_is(word, types[i].name))
            return types[i].size;
    return 0;
}

/* Of `unsigned char` and `short int` the other word counts, of `long int` it is the larger. */
static size_t size_of_both(size_t one, size_t other)
{
    size_t small = one < other ? one : other, large = one < other ? other : one;
    return small == 0 || large == 8 ? large : small;
}

size_t constant_size(const struct tokens *tokens, size_t index)
{
    size_t size = 0, words = 0;
    for (size_t at = index; words < 6; at++, words++) {
        const struct token *token = token_at(tokens, at);
        if (token_is(token, "*"))
            return 8;
        if (token_is(token, ")"))
            return size;
        if (token_is(token, "const") || token_is(token, "struct"))
            continue;
        bool long_double = size == 8 && token_is(token, "double");
        size_t next = size_of_word(token);
        if (next == 0 || long_double) /* a struct, perhaps a pointer to it */
            return token->kind == TOKEN_NAME && token_is(token_at(tokens, at + 1), "*") ? 8 : 0;
        size = size_of_both(size, next);
    }
    return 0;
}

/* ---- what an expression is made of ----------------------------------------------------------- */

static uint64_t read_number(struct expression *expression)
{
    char text[32] = "", *end;
    const struct token *token = here(expression);
    if (token->length >= sizeof text)
        return unknown(expression);
    memcpy(text, token->text, token->length);
    uint64_t value = strtoull(text, &end, 0);
    if (end[strspn(end, "uUlL")] != '\0')
        return unknown(expression);
    expression->at++;
    return value;
}

static uint64_t read_size(struct expression *expression)
{
    const struct tokens *tokens = expression->variables->tokens;
    size_t open = expression->at + 1;
    size_t size = token_is(token_at(tokens, open), "(") ? constant_size(tokens, open + 1) : 0;
    if (size == 0)
        return unknown(expression);
    expression->at = token_closing(tokens, open) + 1;
    return size;
}

static uint64_t read_parentheses(struct expression *expression)
{
    if (expression->depth > 32)
        return unknown(expression);
    expression->at++;
    expression->depth++;
    uint64_t value = read_union(expression);
    expression->depth--;
    if (!token_is(here(expression), ")"))
        return unknown(expression);
    expression->at++;
    return value;
}

static uint64_t read_variable(struct expression *expression)
{
    const struct variable *variable = variable_at(expression->variables, expression->at);
    expression->at++;
    return variable != NULL && variable->known ? (uint64_t)variable->number : unknown(expression);
}

/* (type) in front of a value. */
static bool is_cast(const struct expression *expression)
{
    const struct tokens *tokens = expression->variables->tokens;
    const struct token *behind = token_at(tokens, token_closing(tokens, expression->at) + 1);
    return token_at(tokens, expression->at + 1)->kind == TOKEN_NAME &&
           variable_at(expression->variables, expression->at + 1) == NULL &&
           (behind->kind == TOKEN_NAME || behind->kind == TOKEN_NUMBER || token_is(behind, "("));
}

static uint64_t read_value(struct expression *expression)
{
    while (token_is(here(expression), "(") && is_cast(expression))
        expression->at = token_closing(expression->variables->tokens, expression->at) + 1;
    const struct token *token = here(expression);
    bool wrapped = token_is(token, "INT64_C") || token_is(token, "UINT64_C");
    if (token->kind == TOKEN_NUMBER)
        return read_number(expression);
    if (token_is(token, "("))
        return read_parentheses(expression);
    if (token_is(token, "sizeof"))
        return read_size(expression);
    expression->at += wrapped;
    if (wrapped)
        return token_is(here(expression), "(") ? read_parentheses(expression) : unknown(expression);
    return token->kind == TOKEN_NAME ? read_variable(expression) : unknown(expression);
}

/* ---- operators, the tightest first ----------------------------------------------------------- */

static uint64_t read_product(struct expression *expression)
{
    uint64_t value = read_value(expression);
    while (expression->known && token_is(here(expression), "*")) {
        expression->at++;
        value *= read_value(expression);
    }
    return value;
}

static uint64_t read_sum(struct expression *expression)
{
    uint64_t value = read_product(expression);
    while (expression->known &&
           (token_is(here(expression), "+") || token_is(here(expression), "-"))) {
        bool less = token_is(here(expression), "-");
        expression->at++;
        uint64_t other = read_product(expression);
        value += less ? -other : other;
    }
    return value;
}

static uint64_t read_shift(struct expression *expression)
{
    const struct tokens *tokens = expression->variables->tokens;
    uint64_t value = read_sum(expression);
    while (expression->known && token_is(here(expression), "<") &&
           token_is(token_at(tokens, expression->at + 1), "<")) {
        expression->at += 2;
        uint64_t by = read_sum(expression);
        value = by < 64 ? value << by : unknown(expression);
    }
    return value;
}

static uint64_t read_union(struct expression *expression)
{
    uint64_t value = read_shift(expression);
    while (expression->known && token_is(here(expression), "|")) {
        expression->at++;
        value |= read_shift(expression);
    }
    return value;
}

bool constant_at(const struct variables *variables, size_t index, int64_t *value)
{
    struct expression expression = {variables, index, 0, true};
    uint64_t result = read_union(&expression);
    const struct token *end = here(&expression);
    if (!expression.known || end->kind != TOKEN_MARK || end->length == 0 ||
        strchr(",;)}]", *end->text) == NULL)
        return false;
    *value = (int64_t)result;
    return true;
}

/* A variable's value names only those that are declared before it. */
void constants_find(struct variables *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        struct variable *variable = &variables->list[i];
        if (variable->kind == VARIABLE_VALUE && !variable->changed && variable->value != NONE)
            variable->known = constant_at(variables, variable->value, &variable->number);
    }
}
