/*
 * items.c - finds entries and host keys in host sources, and kernels in device sources.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "items.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "stem.h"

#define ENTRY_TYPE "__tgt_offload_entry"
#define SECTION "omp_offloading_entries"
#define MOST_OF_VALUE 64 /* maximum tokens of a host key */

static char *text_of(const struct token *token)
{
    return tool_format("%.*s", (int)token->length, token->text);
}

static struct item *add(struct items *items, enum item_kind kind, const struct tokens *tokens,
                        const struct token *token)
{
    items->list = tool_grow(items->list, items->count, sizeof *items->list);
    struct item *item = &items->list[items->count++];
    *item = (struct item){
        .kind = kind, .at = {tokens->path, token->line}, .conditional = token->conditional};
    return item;
}

/* ---- macros ---------------------------------------------------------------------------------- */

/*
 * Adds the items of the macro at INDEX, if the macro is from rex/entry.h, rex/launch.h or
 * rex/kernel.h. The first argument of the macro is a name or a stem (stem.h).
 */
static void read_macro(struct items *items, const struct tokens *tokens, size_t index)
{
    static const char *const entries[] = {"REX_KERNEL", "REX_KERNEL_STEM", "REX_ENTRY", NULL};
    static const char *const keys[] = {"REX_KERNEL_ID",  "REX_KERNEL_STEM_ID", "REX_LAUNCH",
                                       "REX_LAUNCH_FOR", "REX_LAUNCH_WITH",    NULL};
    const struct token *token = &tokens->list[index], *first = token_at(tokens, index + 2),
                       *behind = token_at(tokens, index + 3);
    enum item_kind kind = token_is_any(token, entries) ? ITEM_ENTRY
                          : token_is_any(token, keys)  ? ITEM_KEY
                                                       : ITEM_KERNEL;
    if (!token_is(token_at(tokens, index + 1), "(") ||
        (kind == ITEM_KERNEL && !token_has(token, "REX_DEVICE_KERNEL")))
        return;
    bool plain = first->kind == TOKEN_NAME && (token_is(behind, ",") || token_is(behind, ")"));
    if (!plain || token_is(token, "REX_ENTRY")) {
        if (kind != ITEM_KEY)
            add(items, ITEM_UNSEEN, tokens, token)->placed = kind == ITEM_KERNEL;
        return;
    }
    char *stem = tool_format("%.*s%s", (int)first->length, first->text,
                             token_has(token, "_STEM") ? "" : "__");
    struct item *item = add(items, kind, tokens, token);
    item->placed = true;
    item->symbol = tool_format("%s" ENTRY_SUFFIX, stem);
    item->key = tool_format("%s" KEY_SUFFIX, stem);
    item->name = tool_format("%s" NAME_SUFFIX, stem);
    free(stem);
}

/*
 * Returns true for a #define whose text has one of WORDS, and for an #include of a quoted name
 * without ".h": either may define entries or kernels that rex-check does not see.
 */
static bool may_define(const struct token *token, const char *const *words)
{
    bool part = token->kind == TOKEN_INCLUDE && token->length > 0 && *token->text == '"' &&
                !token_has(token, ".h");
    for (; token->kind == TOKEN_DEFINE && *words != NULL; words++)
        part |= token_has(token, *words);
    return part;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The tokens with the indices from `first` to `end` - 1. */
struct value {
    size_t first, end;
};

/* Returns the value that begins at FROM. A comma, a semicolon or the index CLOSE ends the value. */
static struct value value_at(const struct tokens *tokens, size_t from, size_t close)
{
    static const char *const ends[] = {",", ";", NULL};
    struct value value = {from, from};
    close = close < tokens->count ? close : tokens->count;
    while (value.end < close && !token_is_any(&tokens->list[value.end], ends)) {
        size_t closing = token_closing(tokens, value.end);
        value.end = closing < close ? closing + 1 : value.end + 1;
    }
    return value;
}

/*
 * Returns the index of the last token in VALUE that is not a closing parenthesis; SIZE_MAX if VALUE
 * has no such token.
 */
static size_t last_of(const struct tokens *tokens, struct value value)
{
    while (value.end > value.first && token_is(token_at(tokens, value.end - 1), ")"))
        value.end--;
    return value.end > value.first ? value.end - 1 : SIZE_MAX;
}

/* Returns true for 0, NULL, or an empty value. */
static bool is_none(const struct tokens *tokens, struct value value)
{
    static const char *const none[] = {"NULL", "nullptr", "", NULL};
    const struct token *last = token_at(tokens, last_of(tokens, value));
    return token_is_any(last, none) ||
           (last->kind == TOKEN_NUMBER && *last->text == '0' && last->length <= 2);
}

/*
 * If VALUE is the address of a variable, with or without casts, returns the variable. Otherwise
 * returns NULL.
 */
static const struct token *address_in(const struct tokens *tokens, struct value value)
{
    size_t last = last_of(tokens, value), at = last - 1;
    while (token_is(token_at(tokens, at), "("))
        at--;
    if (token_at(tokens, last)->kind != TOKEN_NAME || !token_is(token_at(tokens, at), "&"))
        return NULL;
    do
        at--;
    while (token_is(token_at(tokens, at), "("));
    bool argument = token_at(tokens, at)->kind == TOKEN_NAME && at >= value.first;
    return argument ? NULL : token_at(tokens, last);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The state of read_declaration() while it reads the tokens of one declaration. */
struct declaration {
    const struct token *symbol;
    bool is_entry, in_section, says_section; /* `says_section`: a string names the section */
    size_t inside; /* tokens before this index are inside parentheses or brackets */
};

/*
 * Reads the values of an entry, between OPEN and CLOSE: address (the key), name, size, flags and
 * reserved in order, or designated in any order. The first case that applies decides:
 * - The key or the name cannot be read: adds an ITEM_UNSEEN.
 * - The size is not 0, so the entry is for a global: skips the entry.
 * - The entry is outside the section, and has neither key nor name: skips the entry.
 * - All other entries: adds an ITEM_ENTRY.
 */
static void read_values(struct items *items, const struct tokens *tokens,
                        const struct declaration *declaration, size_t open, size_t close)
{
    static const char *const fields[][3] = {
        {"addr", "Address", NULL}, {"name", "SymbolName", NULL}, {"size", "Size", NULL}};
    struct value values[3] = {{0, 0}, {0, 0}, {0, 0}}, value;
    size_t number = 0;
    for (size_t from = open + 1; from < close; from = value.end + 1, number++) {
        bool designated = token_is(&tokens->list[from], ".");
        value = value_at(tokens, designated ? from + 3 : from, close);
        for (size_t i = 0; i < 3; i++)
            if (designated ? token_is_any(token_at(tokens, from + 1), fields[i]) : number == i)
                values[i] = value;
    }
    bool no_key = is_none(tokens, values[0]), no_name = is_none(tokens, values[1]);
    size_t last = last_of(tokens, values[1]);
    const struct token *key = address_in(tokens, values[0]), *name = token_at(tokens, last);
    if (key == NULL)
        key = token_at(tokens, last_of(tokens, values[0]));
    bool whole = name->kind == TOKEN_STRING && token_at(tokens, last - 1)->kind != TOKEN_STRING;
    bool unseen = (!no_key && key->kind != TOKEN_NAME) || (!no_name && !whole);
    if (!unseen && (!is_none(tokens, values[2]) || (no_key && no_name && !declaration->in_section)))
        return;
    struct item *item = add(items, unseen ? ITEM_UNSEEN : ITEM_ENTRY, tokens, declaration->symbol);
    if (unseen)
        return;
    item->placed = declaration->in_section;
    item->symbol = text_of(declaration->symbol);
    item->key = no_key ? NULL : text_of(key);
    item->name = no_name ? NULL : text_of(name);
}

/*
 * Reads the name at INDEX in a declaration. An unknown name may be a macro for any attribute. So
 * the function assumes that the name is the attribute that places the entry in the section.
 */
static void read_name(struct declaration *declaration, const struct tokens *tokens, size_t index)
{
    static const char *const known[] = {"struct",        "static",      "extern", "const",
                                        "volatile",      "typedef",     "asm",    "__asm__",
                                        "__attribute__", "__attribute", NULL};
    const struct token *token = &tokens->list[index];
    if (token_is(token, ENTRY_TYPE))
        declaration->is_entry = true;
    else if (token_is_any(token, known))
        return;
    else if (declaration->is_entry && declaration->symbol == NULL &&
             !token_is(token_at(tokens, index + 1), "("))
        declaration->symbol = token;
    else
        declaration->in_section = true;
}

/*
 * Reads the token at INDEX of a declaration. If the declaration has the type and the values of an
 * entry, adds an entry. Returns the index of the last token read.
 */
static size_t read_declaration(struct items *items, const struct tokens *tokens, size_t index,
                               struct declaration *declaration)
{
    static const char *const ends[] = {";", "{", "}", NULL}, *const table[] = {"{", "[", NULL};
    const struct token *token = &tokens->list[index];
    size_t close = token_closing(tokens, index);
    bool values = declaration->is_entry && declaration->symbol != NULL && token_is(token, "{") &&
                  close < tokens->count;
    if (token->kind == TOKEN_STRING && token->length == strlen(SECTION) &&
        token_has(token, SECTION) && token_has(token_at(tokens, index - 2), "section"))
        declaration->in_section = declaration->says_section = true;
    if (index < declaration->inside)
        return index;
    if (token->kind == TOKEN_NAME)
        read_name(declaration, tokens, index);
    else if (token_is(token, "*"))
        declaration->is_entry = false;
    else if (token_is(token, "(") || token_is(token, "["))
        declaration->inside = token->closing;
    if (!token_is_any(token, ends))
        return index;
    /*
     * rex-check cannot read entries in a table, entries of another type, or values that are set
     * later. If a declaration has such entries, adds an ITEM_UNSEEN.
     */
    if (values ? token_is_any(token_at(tokens, index + 1), table) : declaration->says_section)
        add(items, ITEM_UNSEEN, tokens, token);
    else if (values)
        read_values(items, tokens, declaration, index, close);
    *declaration = (struct declaration){.inside = 0};
    return values ? close : index;
}

/* ---- host keys ------------------------------------------------------------------------------- */

/*
 * If VALUE is the address of a variable, adds the variable as a key. Does not add a variable whose
 * name ends as the names of keys do, because read_use() adds such a variable.
 */
static void add_key(struct items *items, const struct tokens *tokens, const struct token *at,
                    struct value value)
{
    const struct token *variable = address_in(tokens, value);
    if (variable != NULL && !token_ends(variable, "__" KEY_SUFFIX))
        add(items, ITEM_KEY, tokens, at)->key = text_of(variable);
}

/*
 * Reads a launch at INDEX: a call of a launch function of libomptarget, or of a wrapper
 * (rex_kmp.h). One argument of the call is the address of a key.
 */
static void read_launch(struct items *items, const struct tokens *tokens, size_t index)
{
    const struct token *token = &tokens->list[index];
    size_t close = token_closing(tokens, index + 1), count = 0;
    bool packet = token_has(token, "kernel");
    struct value value = {0, index + 1}, before = value, second = value;
    for (; value.end < close && close < tokens->count; count++) {
        before = value;
        value = value_at(tokens, value.end + 1, close);
        second = count == 1 ? value : second;
    }
    /*
     * __tgt_target_kernel() of libomptarget has 6 arguments. The wrapper in rex_kmp.h has 5,
     * because it lacks the location. In both, the key is the last argument but one. In the other
     * launch functions the key is the second of at least 6 arguments.
     */
    if (packet ? count != 5 && count != 6 : count < 6)
        return;
    value = packet ? before : second;
    if (is_none(tokens, value))
        add(items, ITEM_KEY, tokens, token);
    else
        add_key(items, tokens, token, value);
}

/*
 * Reads the name at INDEX: a host key, a variable that is set to a key and whose name ends in
 * "host_ptr", or a launch function.
 */
static void read_use(struct items *items, const struct tokens *tokens, size_t index)
{
    static const char *const before[] = {"&", ")", NULL};
    const struct token *token = &tokens->list[index];
    size_t at = index - 1;
    while (token_is(token_at(tokens, at), "("))
        at--;
    if (token_ends(token, "__" KEY_SUFFIX) && token_is_any(token_at(tokens, at), before))
        add(items, ITEM_KEY, tokens, token)->key = text_of(token);
    else if (token_ends(token, "host_ptr") && token_is(token_at(tokens, index + 1), "="))
        add_key(items, tokens, token, value_at(tokens, index + 2, index + MOST_OF_VALUE));
    else if (token_has(token, "__tgt_target") && !token_has(token, "_data_") &&
             token_is_call(tokens, index))
        read_launch(items, tokens, index);
}

/* ---- files ----------------------------------------------------------------------------------- */

void items_read_host(struct items *items, const struct tokens *tokens)
{
    static const char *const makers[] = {"REX_KERNEL(", "REX_KERNEL_STEM(", "REX_ENTRY(",
                                         "struct " ENTRY_TYPE, NULL};
    struct declaration declaration = {.inside = 0};
    for (size_t i = 0; i < tokens->count; i++) {
        i = read_declaration(items, tokens, i, &declaration);
        if (token_at(tokens, i)->kind == TOKEN_NAME) {
            read_macro(items, tokens, i);
            read_use(items, tokens, i);
        } else if (i < tokens->count && may_define(&tokens->list[i], makers))
            add(items, ITEM_UNSEEN, tokens, &tokens->list[i]);
    }
}

/*
 * INDEX is the index of a __global__. If a definition `void NAME(parameters) {` follows, returns
 * NAME; if not, returns NULL. Launch bounds and attributes may stand before NAME.
 */
static const struct token *defined_at(const struct tokens *tokens, size_t index)
{
    static const char *const before[] = {"__launch_bounds__", "__attribute__", "__maxnreg__", NULL};
    static const char *const ends[] = {"__global__", ";", "{", NULL};
    const struct token *name = NULL;
    for (size_t i = index + 1; i < tokens->count && !token_is_any(&tokens->list[i], ends); i++) {
        if (tokens->list[i].kind == TOKEN_NAME)
            name = &tokens->list[i];
        if (!token_is(&tokens->list[i], "("))
            continue;
        i = token_closing(tokens, i);
        if (name != NULL && !token_is_any(name, before))
            return token_is(token_at(tokens, i + 1), "{") ? name : NULL;
    }
    return NULL;
}

void items_read_device(struct items *items, const struct tokens *tokens)
{
    static const char *const ends[] = {";", "{", "}", NULL};
    static const char *const makers[] = {"__global__ ", "REX_DEVICE_KERNEL", NULL};
    size_t c_until = 0; /* end of extern "C" { */
    bool is_c = false, is_template = false;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i], *next = token_at(tokens, i + 1);
        if (token_is_any(token, ends))
            is_c = is_template = false;
        is_template |= token_is(token, "template");
        if (token_is(token, "<") && token_is(next, "<") && token_is(token_at(tokens, i + 2), "<"))
            add(items, ITEM_UNSEEN, tokens, token); /* a launch with <<<...>>> needs no entry */
        else if (may_define(token, makers))
            add(items, ITEM_UNSEEN, tokens, token)->placed = true;
        else if (token_is(token, "extern") && next->kind == TOKEN_STRING) {
            is_c = true;
            if (token_is(token_at(tokens, i + 2), "{"))
                c_until = token_closing(tokens, i + 2);
        } else if (token_is(token, "__global__") && !is_template) {
            const struct token *name = defined_at(tokens, i);
            if (name == NULL)
                continue;
            struct item *item = add(items, ITEM_KERNEL, tokens, token);
            item->placed = is_c || i < c_until;
            item->name = text_of(name);
        } else if (token->kind == TOKEN_NAME)
            read_macro(items, tokens, i);
    }
}

void items_free(struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        free(items->list[i].symbol);
        free(items->list[i].key);
        free(items->list[i].name);
    }
    free(items->list);
}
