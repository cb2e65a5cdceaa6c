/*
 * calls.c - launches and data calls in a host source, and the columns that they are given.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- elements -------------------------------------------------------------------------------- */

size_t element_end(const struct tokens *tokens, size_t index)
{
    for (size_t i = index; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i];
        if (token_is(token, ",") || token_is(token, ";") || token_is(token, ")") ||
            token_is(token, "}") || token_is(token, "]"))
            return i;
        if (token_is(token, "(") || token_is(token, "{") || token_is(token, "["))
            i = token_closing(tokens, i);
    }
    return tokens->count;
}

size_t element_next(const struct tokens *tokens, size_t element, size_t *end)
{
    bool opens =
        token_is(token_at(tokens, element), "{") || token_is(token_at(tokens, element), "(");
    size_t from = opens || token_is(token_at(tokens, element), ",") ? element + 1 : NONE;
    if (from == NONE || from >= tokens->count)
        return NONE;
    *end = element_end(tokens, from);
    return *end > from ? from : NONE;
}

size_t elements_in(const struct tokens *tokens, size_t open)
{
    size_t count = 0, end;
    for (size_t at = element_next(tokens, open, &end); at != NONE;
         at = element_next(tokens, end, &end))
        count++;
    return count;
}

static size_t behind_parentheses(const struct tokens *tokens, size_t index, size_t end)
{
    while (index < end &&
           (token_is(&tokens->list[index], "(") || token_is(&tokens->list[index], ")")))
        index++;
    return index;
}

bool elements_same(const struct tokens *tokens, size_t one, size_t one_end, size_t other,
                   size_t other_end)
{
    for (;;) {
        one = behind_parentheses(tokens, one, one_end);
        other = behind_parentheses(tokens, other, other_end);
        if (one >= one_end || other >= other_end)
            return one >= one_end && other >= other_end;
        const struct token *a = &tokens->list[one++], *b = &tokens->list[other++];
        if (a->kind != b->kind || a->length != b->length ||
            memcmp(a->text, b->text, a->length) != 0)
            return false;
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

size_t key_in(const struct variables *variables, size_t index)
{
    const struct tokens *tokens = variables->tokens;
    const struct variable *variable = variable_at(variables, token_behind_casts(tokens, index));
    if (variable != NULL && variable->kind == VARIABLE_VALUE)
        index = variable->changed ? NONE : variable->value;
    if (index == NONE)
        return NONE;
    for (size_t i = index; i < index + 8 && i < tokens->count; i++) {
        const struct token *token = &tokens->list[i];
        if (token_is(token, ";") || token_is(token, ","))
            return NONE;
        if (token_is(token, "&") || token_is(token, "REX_KERNEL_ID") ||
            token_is(token, "REX_KERNEL_STEM_ID"))
            return token_is(token, "&") ? i + 1 : i;
    }
    return NONE;
}

/* ---- packets --------------------------------------------------------------------------------- */

static const char *const fields[] = {"Version", "NumArgs",  "ArgsBase",
                                     "Args",    "ArgSizes", "ArgTypes"};
#define FIELDS (sizeof fields / sizeof *fields)

static size_t field_named(const struct token *name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (token_is(name, fields[i]))
            return i;
    return FIELDS;
}

/* { value, ... } or { .Field = value, ... } */
static void read_braces(const struct tokens *tokens, size_t open, size_t values[FIELDS])
{
    size_t field = 0, end;
    for (size_t at = element_next(tokens, open, &end); at != NONE;
         at = element_next(tokens, end, &end), field++) {
        bool named = token_is(&tokens->list[at], ".");
        if (named)
            field = field_named(token_at(tokens, at + 1));
        if (field < FIELDS)
            values[field] = named ? at + 3 : at;
    }
}

/* What is assigned to the fields before CALL; one that is assigned twice is not known. */
static void read_fields(const struct variables *variables, const struct variable *packet,
                        size_t call, size_t values[FIELDS], bool seen[FIELDS])
{
    size_t at = packet->last_assignment;
    for (size_t i = 0; at != NONE && i < 64; i++, at = variables->assignments[at].previous) {
        const struct assignment *assignment = &variables->assignments[at];
        size_t field = field_named(token_at(variables->tokens, assignment->name));
        if (field == FIELDS)
            continue;
        values[field] = seen[field] || assignment->name > call ? NONE : assignment->value;
        seen[field] = true;
    }
}

static void read_packet(const struct variables *variables, struct call *call, size_t argument)
{
    const struct tokens *tokens = variables->tokens;
    size_t name = token_behind_casts(tokens, argument);
    const struct variable *packet =
        variable_at(variables, token_is(token_at(tokens, name), "&") ? name + 1 : name);
    size_t values[FIELDS] = {NONE, NONE, NONE, NONE, NONE, NONE};
    bool seen[FIELDS] = {false};
    if (packet == NULL || packet->kind != VARIABLE_PACKET || packet->changed)
        return;
    if (packet->value != NONE)
        read_braces(tokens, packet->value, values);
    call->no_version = packet->value != NONE && values[0] == NONE;
    read_fields(variables, packet, call->name, values, seen);
    call->no_version &= !seen[0];
    call->version = values[0];
    call->rows = values[1];
    for (size_t i = 0; i < COLUMNS; i++)
        call->columns[i] = values[2 + i];
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Arguments are counted behind a location, which libomptarget's own functions want for a packet. */
static const struct function {
    const char *name;
    enum call_kind kind;
    size_t key, rows; /* numbers of arguments; columns follow, unless a packet is where rows are */
    bool packet;
} functions[] = {{"__tgt_target_kernel", CALL_LAUNCH, 3, 4, true},
                 {"__tgt_target_teams", CALL_LAUNCH, 1, 2, false},
                 {"__tgt_target", CALL_LAUNCH, 1, 2, false},
                 {"__tgt_target_data_begin", CALL_BEGIN, 9, 1, false},
                 {"__tgt_target_data_end", CALL_END, 9, 1, false},
                 {"__tgt_target_data_update", CALL_UPDATE, 9, 1, false}};

static const struct function *function_named(const struct token *name, bool *located)
{
    static const char *const prefixes[] = {"", "rex_", "rex_direct_", "__rex_real_"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
            size_t front = strlen(prefixes[p]);
            if (name->length == front + strlen(functions[i].name) &&
                memcmp(name->text, prefixes[p], front) == 0 &&
                memcmp(name->text + front, functions[i].name, name->length - front) == 0) {
                *located = functions[i].packet && p == 3;
                return &functions[i];
            }
        }
    return NULL;
}

/* The first tokens of the arguments behind NAME. */
static void read_arguments(const struct tokens *tokens, size_t name, size_t arguments[10])
{
    size_t count = 0, end;
    for (size_t at = element_next(tokens, name + 1, &end); at != NONE && count < 10;
         at = element_next(tokens, end, &end))
        arguments[count++] = at;
    while (count < 10)
        arguments[count++] = NONE;
}

static void add_call(struct calls *calls, struct call call)
{
    calls->list = tool_grow(calls->list, calls->count, sizeof *calls->list);
    calls->list[calls->count++] = call;
}

static void read_call(struct calls *calls, size_t name, size_t body)
{
    const struct tokens *tokens = calls->variables->tokens;
    struct call call = {CALL_RETURN, name, body, NONE, NONE, NONE, {NONE, NONE, NONE, NONE}, false};
    bool located = false;
    size_t all[10];
    const struct function *function = function_named(&tokens->list[name], &located);
    if (function == NULL || !token_is_call(tokens, name))
        return;
    read_arguments(tokens, name, all);
    const size_t *arguments = all + located;
    call.kind = function->kind;
    call.key = function->kind == CALL_LAUNCH ? arguments[function->key] : NONE;
    if (function->packet && arguments[function->rows] != NONE)
        read_packet(calls->variables, &call, arguments[function->rows]);
    else if (!function->packet) {
        call.rows = arguments[function->rows];
        for (size_t i = 0; i < COLUMNS; i++)
            call.columns[i] = arguments[function->rows + 1 + i];
    }
    add_call(calls, call);
    for (enum column i = 0; i < COLUMNS; i++) {
        struct variable *column = call_column(calls, &call, i);
        if (column == NULL)
            continue;
        if (column->used == NONE && column->kind == VARIABLE_ARRAY && column->value != NONE)
            column->elements = elements_in(tokens, column->value);
        column->used = name;
    }
}

void calls_read(struct calls *calls, struct variables *variables)
{
    const struct tokens *tokens = variables->tokens;
    size_t body = 0;
    *calls = (struct calls){.variables = variables};
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i];
        if (token_is(token, "{") && i > body && token_is(token_before(tokens, i, 1), ")"))
            body = token_closing(tokens, i);
        else if (i < body && token_is(token, "return"))
            add_call(calls, (struct call){.kind = CALL_RETURN, .name = i, .body = body});
        else if (i < body && token->kind == TOKEN_NAME)
            read_call(calls, i, body);
    }
}

struct variable *call_column(const struct calls *calls, const struct call *call, enum column column)
{
    const struct tokens *tokens = calls->variables->tokens;
    size_t at = call->columns[column];
    for (int names = 0; at != NONE && names < 4; names++) {
        at = token_behind_casts(tokens, at);
        struct variable *variable = variable_at(calls->variables, at);
        if (variable == NULL || element_end(tokens, at) != at + 1)
            return NULL;
        if (variable->kind != VARIABLE_VALUE)
            return variable;
        at = variable->changed ? NONE : variable->value;
    }
    return NULL;
}

void calls_free(struct calls *calls)
{
    free(calls->list);
}
