/*
 * source.c - find entries, uses of keys and kernels in a source.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct position source_position(const char *path, const struct tokens *tokens, size_t index)
{
    return (struct position){path, token_at(tokens, index)->line, index};
}

static bool ends_with(const struct token *token, const char *suffix)
{
    size_t length = strlen(suffix);
    return token->kind == TOKEN_NAME && token->length > length &&
           memcmp(token->text + token->length - length, suffix, length) == 0;
}

/* NAME(ARGUMENT, ...) or NAME(ARGUMENT): the first argument, where it is a name. */
const struct token *source_argument(const struct tokens *tokens, size_t index)
{
    const struct token *argument = token_at(tokens, index + 2);
    return token_is(token_at(tokens, index + 1), "(") && argument->kind == TOKEN_NAME ? argument
                                                                                      : NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void add_entry(struct sources *sources, struct source_entry entry)
{
    sources->entries = tool_grow(sources->entries, sources->entry_count, sizeof *sources->entries);
    sources->entries[sources->entry_count++] = entry;
}

/* "a" "b" is one string. */
static char *joined(const struct tokens *tokens, size_t index)
{
    size_t end = index, length = 0;
    for (; token_at(tokens, end)->kind == TOKEN_STRING; end++)
        length += tokens->list[end].length;
    char *whole = tool_alloc(length + 1, 1);
    for (length = 0; index < end; length += tokens->list[index++].length)
        memcpy(whole + length, tokens->list[index].text, tokens->list[index].length);
    return whole;
}

/* The tokens from OPEN to CLOSE are the values of ENTRY: address, name, size, flags, reserved. */
static void read_values(struct source_entry *entry, const struct tokens *tokens, size_t open,
                        size_t close)
{
    size_t value = 0, depth = 0;
    for (size_t i = open + 1; i < close; i++) {
        const struct token *token = &tokens->list[i], *next = token_at(tokens, i + 1);
        depth += token_is(token, "(") || token_is(token, "{");
        depth -= depth > 0 && (token_is(token, ")") || token_is(token, "}"));
        value += depth == 0 && token_is(token, ",");
        if (entry->key == NULL && token_is(token, "&") && next->kind == TOKEN_NAME)
            entry->key = token_string(next);
        if (entry->name == NULL && token->kind == TOKEN_STRING)
            entry->name = joined(tokens, i);
        bool named_size = token_is(token, "size") && i > 0 && token_is(&tokens->list[i - 1], ".");
        bool is_size = named_size || (value == 2 && depth == 0 && token_is(token, ","));
        const struct token *size = named_size ? token_at(tokens, i + 2) : next;
        if (is_size && !(size->kind == TOKEN_NUMBER && *size->text == '0' && size->length == 1) &&
            !token_is(size, "."))
            entry->global = true;
    }
}

static bool says_section(const struct tokens *tokens, size_t from, size_t to)
{
    static const char name[] = "omp_offloading_entries";
    for (size_t i = from; i < to; i++)
        if (tokens->list[i].kind == TOKEN_STRING && tokens->list[i].length == sizeof name - 1 &&
            memcmp(tokens->list[i].text, name, sizeof name - 1) == 0)
            return true;
    return false;
}

/* A declaration has one such type: behind it, or before it, the next declaration begins. */
static bool is_entry(const struct token *token)
{
    return token_is(token, "__tgt_offload_entry");
}

/*
 * Behind the type at INDEX: a definition with values is an entry. The token behind it; INDEX + 1
 * where it is none.
 */
static size_t read_entry(struct sources *sources, const char *path, const struct tokens *tokens,
                         size_t index)
{
    const struct token *symbol = token_at(tokens, index + 1);
    size_t begin = index, open = index + 2;
    if (symbol->kind != TOKEN_NAME)
        return index + 1;
    while (open < tokens->count && !token_is(&tokens->list[open], "=") &&
           !token_is(&tokens->list[open], ";") && !is_entry(&tokens->list[open]))
        open = token_is(&tokens->list[open], "(") ? token_closing(tokens, open) + 1 : open + 1;
    if (!token_is(token_at(tokens, open), "=") || !token_is(token_at(tokens, open + 1), "{"))
        return index + 1;
    /* The attribute may stand in front of the type. */
    while (begin > 0 && !token_is(&tokens->list[begin - 1], ";") &&
           !token_is(&tokens->list[begin - 1], "}") && !is_entry(&tokens->list[begin - 1]))
        begin--;
    size_t close = token_closing(tokens, open + 1);
    struct source_entry entry = {.at = source_position(path, tokens, index),
                                 .symbol = token_string(symbol)};
    entry.in_section = says_section(tokens, begin, open);
    read_values(&entry, tokens, open + 1, close);
    add_entry(sources, entry);
    return close;
}

/* REX_KERNEL(name), or REX_KERNEL_STEM(stem). */
static void add_macro_entry(struct sources *sources, const char *path, const struct tokens *tokens,
                            size_t index, const char *infix)
{
    const struct token *stem = source_argument(tokens, index);
    if (stem == NULL)
        return;
    int length = (int)stem->length;
    add_entry(sources,
              (struct source_entry){
                  .at = source_position(path, tokens, index),
                  .symbol = tool_format("%.*s%somp_offload_entry__", length, stem->text, infix),
                  .key = tool_format("%.*s%sid__", length, stem->text, infix),
                  .name = tool_format("%.*s%skernel__", length, stem->text, infix),
                  .in_section = true});
}

/* ---- uses of keys ---------------------------------------------------------------------------- */

static void add_use(struct sources *sources, struct position at, char *key)
{
    sources->uses = tool_grow(sources->uses, sources->use_count, sizeof *sources->uses);
    sources->uses[sources->use_count++] = (struct source_use){at, key};
}

char *source_key(const struct tokens *tokens, size_t index)
{
    const struct token *token = token_at(tokens, index);
    bool macro = token_is(token, "REX_KERNEL_ID"), stem = token_is(token, "REX_KERNEL_STEM_ID");
    if (!macro && !stem)
        return token->kind == TOKEN_NAME ? token_string(token) : NULL;
    token = source_argument(tokens, index);
    return token != NULL
               ? tool_format("%.*s%sid__", (int)token->length, token->text, macro ? "__" : "")
               : NULL;
}

static void add_macro_use(struct sources *sources, const char *path, const struct tokens *tokens,
                          size_t index)
{
    char *key = source_key(tokens, index);
    if (key != NULL)
        add_use(sources, source_position(path, tokens, index), key);
}

void source_read_host(struct sources *sources, const char *path, const struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i];
        if (is_entry(token))
            i = read_entry(sources, path, tokens, i) - 1;
        else if (token_is(token, "REX_KERNEL"))
            add_macro_entry(sources, path, tokens, i, "__");
        else if (token_is(token, "REX_KERNEL_STEM"))
            add_macro_entry(sources, path, tokens, i, "");
        else if (token_is(token, "REX_KERNEL_ID") || token_is(token, "REX_KERNEL_STEM_ID"))
            add_macro_use(sources, path, tokens, i);
        else if (token_is(token, "&") && ends_with(token_at(tokens, i + 1), "__id__"))
            add_use(sources, source_position(path, tokens, i), token_string(&tokens->list[i + 1]));
    }
}

void sources_free(struct sources *sources)
{
    for (size_t i = 0; i < sources->entry_count; i++) {
        free(sources->entries[i].symbol);
        free(sources->entries[i].key);
        free(sources->entries[i].name);
    }
    for (size_t i = 0; i < sources->kernel_count; i++) {
        free(sources->kernels[i].name);
        free(sources->kernels[i].parameters.list);
    }
    for (size_t i = 0; i < sources->use_count; i++)
        free(sources->uses[i].key);
    free(sources->entries);
    free(sources->kernels);
    free(sources->uses);
}
