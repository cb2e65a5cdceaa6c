/*
 * variables.c - the variables of a host source, and which of them each name means.
 *
 * What cannot be told makes a variable `changed`, and nothing is said about it then.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "variables.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct reader {
    struct variables *variables;
    const struct tokens *tokens;
    struct scopes scopes;
};

static const struct token *before(const struct reader *reader, size_t index, size_t distance)
{
    return token_before(reader->tokens, index, distance);
}

struct variable *variable_at(const struct variables *variables, size_t index)
{
    size_t number = index < variables->tokens->count ? variables->of_token[index] : NONE;
    return number != NONE ? &variables->list[number] : NULL;
}

/* Whether it is somebody who only reads: a call that is checked, a condition, a packet's values. */
static bool only_reads(const struct reader *reader, size_t who)
{
    static const char *const readers[] = {
        "if", "while", "for", "switch", "sizeof", "free", "rex_pack_literal_arg_bytes", NULL};
    if (who == NONE)
        return true;
    const struct token *token = &reader->tokens->list[who];
    if (token_is(token, "{")) {
        const struct variable *filled = variable_at(reader->variables, who - 2);
        return filled != NULL && filled->kind == VARIABLE_PACKET;
    }
    for (size_t i = 0; i + 6 <= token->length && i < 16; i++)
        if (memcmp(token->text + i, "__tgt_", 6) == 0)
            return true;
    return token_is_any(token, readers);
}

/* ---- uses -------------------------------------------------------------------------------------*/

/* Where the value begins that the operator at INDEX assigns; NONE: it assigns nothing. */
static size_t assigned(const struct tokens *tokens, size_t index)
{
    const struct token *mark = token_at(tokens, index), *next = token_at(tokens, index + 1);
    if (mark->kind != TOKEN_MARK || mark->length == 0)
        return NONE;
    if (*mark->text == '=')
        return token_is(next, "=") ? NONE : index + 1;
    if (strchr("+-*/%&|^", *mark->text) != NULL)
        return token_is(next, "=") ||
                       (strchr("+-", *mark->text) != NULL && next->kind == TOKEN_MARK &&
                        token_is(next, *mark->text == '+' ? "+" : "-"))
                   ? index + 2
                   : NONE;
    bool shift =
        (*mark->text == '<' && token_is(next, "<")) || (*mark->text == '>' && token_is(next, ">"));
    return shift && token_is(token_at(tokens, index + 2), "=") ? index + 3 : NONE;
}

static void add_assignment(struct variables *all, struct variable *variable, size_t name,
                           size_t value)
{
    all->assignments = tool_grow(all->assignments, all->assignment_count, sizeof *all->assignments);
    all->assignments[all->assignment_count] =
        (struct assignment){name, value, variable->last_assignment};
    variable->last_assignment = all->assignment_count++;
    variable->assignments++;
}

/* NAME[...] = or NAME.FIELD = at INDEX. */
static void use_part(struct reader *reader, struct variable *variable, size_t index)
{
    const struct tokens *tokens = reader->tokens;
    bool field = token_is(token_at(tokens, index + 1), ".");
    size_t name = field ? index + 2 : index;
    size_t value = assigned(tokens, token_behind_brackets(tokens, name + 1));
    if (value == NONE)
        return;
    add_assignment(reader->variables, variable, name, value);
    variable->changed |= !field;
}

static bool takes_address(const struct reader *reader, size_t index)
{
    const struct token *first = before(reader, index, 2);
    return token_is(before(reader, index, 1), "&") && first->kind == TOKEN_MARK &&
           !token_is(first, "&") && !token_is(first, "]");
}

static bool steps(const struct reader *reader, size_t index)
{
    const struct token *first = before(reader, index, 2), *second = before(reader, index, 1);
    return (token_is(first, "+") && token_is(second, "+")) ||
           (token_is(first, "-") && token_is(second, "-"));
}

/* PACKET.FIELD = NAME, or .FIELD = NAME between braces, which are judged by themselves. */
static bool is_field(const struct reader *reader, size_t index)
{
    const struct variable *packet = index >= 4 ? variable_at(reader->variables, index - 4) : NULL;
    return token_is(before(reader, index, 3), ".") &&
           (packet == NULL || packet->kind == VARIABLE_PACKET) &&
           (packet != NULL || before(reader, index, 4)->kind == TOKEN_MARK);
}

/* x = NAME, return NAME, c ? NAME : y; not x == NAME */
static bool hands_on(const struct reader *reader, size_t index)
{
    static const char *const marks[] = {"return", "?", ":", NULL};
    const struct token *first = before(reader, index, 2), *second = before(reader, index, 1);
    bool compared =
        first->kind == TOKEN_MARK && first->length == 1 && strchr("=!<>", *first->text) != NULL;
    return token_is_any(second, marks) ||
           (token_is(second, "=") && !compared && !is_field(reader, index));
}

static void use_whole(struct reader *reader, struct variable *variable, size_t index)
{
    size_t who = scopes_asker(&reader->scopes, index);
    bool pointer = variable->kind == VARIABLE_ARRAY || variable->kind == VARIABLE_ALLOCATED;
    if ((who != NONE && token_is(&reader->tokens->list[who], "free")) ||
        token_is(before(reader, index, 1), "delete") ||
        token_is(before(reader, index, 3), "delete"))
        variable->freed = index;
    if (!pointer && !takes_address(reader, index))
        return;
    bool taken = !only_reads(reader, who) || (pointer && hands_on(reader, index));
    variable->given |= taken;
    variable->changed |= taken;
}

static void use(struct reader *reader, struct variable *variable, size_t index)
{
    const struct tokens *tokens = reader->tokens;
    const struct token *next = token_at(tokens, index + 1);
    size_t value = assigned(tokens, index + 1);
    if (token_is(next, "[") || token_is(next, ".")) {
        use_part(reader, variable, index);
        return;
    }
    if (value != NONE && is_allocation(tokens, value) && variable->kind == VARIABLE_VALUE) {
        variable->kind = VARIABLE_ALLOCATED;
        variable->value = value;
    } else if (value != NONE || steps(reader, index))
        variable->changed = true;
    else
        use_whole(reader, variable, index);
}

/* ---- all of it --------------------------------------------------------------------------------*/

static bool is_member(const struct reader *reader, size_t index)
{
    const struct token *front = before(reader, index, 1);
    return token_is(front, ".") ||
           (token_is(front, ">") && token_is(before(reader, index, 2), "-"));
}

static void add(struct reader *reader, struct variable variable)
{
    struct variables *all = reader->variables;
    variable.freed = variable.used = variable.last_assignment = NONE;
    all->of_token[variable.name] = scopes_declare(&reader->scopes, variable.name);
    all->list = tool_grow(all->list, all->count, sizeof *all->list);
    all->list[all->count++] = variable;
}

static void read_name(struct reader *reader, size_t index)
{
    const struct tokens *tokens = reader->tokens;
    if (is_member(reader, index) || token_is(token_at(tokens, index + 1), "("))
        return;
    bool new = declares(&reader->scopes, index);
    size_t number = new ? NONE : scopes_find(&reader->scopes, &tokens->list[index]);
    if (number != NONE) {
        reader->variables->of_token[index] = number;
        use(reader, &reader->variables->list[number], index);
    } else if (new || assigned(tokens, index + 1) == index + 2)
        add(reader, declared(&reader->scopes, index));
}

void variables_read(struct variables *variables, const struct tokens *tokens)
{
    struct reader reader = {.variables = variables, .tokens = tokens};
    *variables = (struct variables){.tokens = tokens};
    variables->of_token = tool_alloc(tokens->count, sizeof *variables->of_token);
    scopes_begin(&reader.scopes, tokens);
    for (size_t i = 0; i < tokens->count; i++) {
        variables->of_token[i] = NONE;
        scopes_step(&reader.scopes, i);
        if (tokens->list[i].kind == TOKEN_NAME)
            read_name(&reader, i);
    }
    scopes_end(&reader.scopes);
}

void variables_free(struct variables *variables)
{
    free(variables->list);
    free(variables->assignments);
    free(variables->of_token);
}
