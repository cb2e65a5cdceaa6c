/*
 * tokens.c - a C, C++ or CUDA source as tokens.
 *
 * Not a compiler's: macros stay as they are written, which is what a generator's output is checked
 * for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "tokens.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"

struct reader {
    struct tokens *tokens;
    const char *at, *end;
    size_t line;
};

static bool more(const struct reader *reader)
{
    return reader->at < reader->end;
}

static bool looking_at(const struct reader *reader, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, text, length) == 0;
}

static void step(struct reader *reader)
{
    reader->line += *reader->at == '\n';
    reader->at++;
}

static void add(struct reader *reader, enum token_kind kind, const char *text, size_t length,
                size_t line)
{
    struct tokens *tokens = reader->tokens;
    tokens->list = tool_grow(tokens->list, tokens->count, sizeof *tokens->list);
    tokens->list[tokens->count++] = (struct token){kind, text, length, line, 0};
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- what is no token ------------------------------------------------------------------------ */

static void skip_comment(struct reader *reader)
{
    bool block = looking_at(reader, "/*");
    reader->at += 2;
    while (more(reader) && !(block ? looking_at(reader, "*/") : *reader->at == '\n')) {
        if (!block && looking_at(reader, "\\\n"))
            step(reader);
        step(reader);
    }
    if (block && more(reader))
        reader->at += 2;
}

/* To the end of a directive, which a backslash or a comment continues on the next line. */
static void skip_directive(struct reader *reader)
{
    while (more(reader) && *reader->at != '\n')
        if (looking_at(reader, "/*") || looking_at(reader, "//"))
            skip_comment(reader);
        else {
            if (looking_at(reader, "\\\n") || looking_at(reader, "\\\r\n"))
                while (*reader->at != '\n')
                    step(reader);
            step(reader);
        }
}

static void skip_blanks(struct reader *reader)
{
    while (more(reader) && (*reader->at == ' ' || *reader->at == '\t'))
        step(reader);
}

static bool word(struct reader *reader, const char *text)
{
    size_t length = strlen(text);
    if (!looking_at(reader, text) ||
        (reader->at + length < reader->end && in_name(reader->at[length])))
        return false;
    reader->at += length;
    return true;
}

/* Skips what stands behind `#if 0`, up to its #else, #elif or #endif. */
static void skip_disabled(struct reader *reader)
{
    size_t depth = 0;
    while (more(reader)) {
        skip_directive(reader);
        if (!more(reader))
            return;
        step(reader);
        skip_blanks(reader);
        if (!more(reader) || *reader->at != '#')
            continue;
        step(reader);
        skip_blanks(reader);
        if (word(reader, "if") || word(reader, "ifdef") || word(reader, "ifndef"))
            depth++;
        else if (word(reader, "endif")
                     ? depth-- == 0
                     : depth == 0 && (word(reader, "else") || word(reader, "elif")))
            return;
    }
}

static void read_include(struct reader *reader)
{
    skip_blanks(reader);
    char close = !more(reader) ? '\0' : *reader->at == '<' ? '>' : *reader->at == '"' ? '"' : '\0';
    if (close == '\0')
        return;
    const char *from = ++reader->at;
    while (more(reader) && *reader->at != close && *reader->at != '\n')
        reader->at++;
    add(reader, TOKEN_INCLUDE, from, (size_t)(reader->at - from), reader->line);
}

static void read_directive(struct reader *reader)
{
    step(reader);
    skip_blanks(reader);
    if (word(reader, "include"))
        read_include(reader);
    else if (word(reader, "if")) {
        skip_blanks(reader);
        if (word(reader, "0"))
            skip_disabled(reader);
    }
    skip_directive(reader);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void read_quoted(struct reader *reader)
{
    char quote = *reader->at;
    size_t line = reader->line;
    const char *from = ++reader->at;
    while (more(reader) && *reader->at != quote && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->at + 1 < reader->end)
            step(reader);
        step(reader);
    }
    if (quote == '"')
        add(reader, TOKEN_STRING, from, (size_t)(reader->at - from), line);
    if (more(reader) && *reader->at == quote)
        step(reader);
}

static void read_word(struct reader *reader)
{
    const char *from = reader->at;
    bool number = isdigit((unsigned char)*from);
    /* 1'000 is a number of C++. */
    while (more(reader) &&
           (in_name(*reader->at) || (number && (*reader->at == '.' || *reader->at == '\''))))
        reader->at++;
    add(reader, number ? TOKEN_NUMBER : TOKEN_NAME, from, (size_t)(reader->at - from),
        reader->line);
}

static bool is_one_of(const struct token *token, const char *marks)
{
    return token->kind == TOKEN_MARK && strchr(marks, *token->text) != NULL;
}

static void match_brackets(struct tokens *tokens)
{
    /* of the brackets that are open; each has the next outer one in its field for as long */
    size_t innermost = SIZE_MAX;
    for (size_t i = 0; i < tokens->count; i++) {
        struct token *token = &tokens->list[i];
        size_t open = innermost;
        token->closing = tokens->count;
        if (is_one_of(token, "({[")) {
            token->closing = innermost;
            innermost = i;
        } else if (open != SIZE_MAX && is_one_of(token, ")}]")) {
            innermost = tokens->list[open].closing;
            tokens->list[open].closing = i;
        }
    }
    for (size_t outer; innermost != SIZE_MAX; innermost = outer) {
        outer = tokens->list[innermost].closing;
        tokens->list[innermost].closing = tokens->count;
    }
}

static void read_all(struct tokens *tokens, const char *text, size_t size)
{
    struct reader reader = {tokens, text, text + size, 1};
    bool line_begins = true;
    while (more(&reader)) {
        char c = *reader.at;
        if (looking_at(&reader, "//") || looking_at(&reader, "/*"))
            skip_comment(&reader);
        else if (isspace((unsigned char)c)) {
            line_begins |= c == '\n';
            step(&reader);
        } else if (c == '#' && line_begins)
            read_directive(&reader);
        else {
            line_begins = false;
            if (c == '"' || c == '\'')
                read_quoted(&reader);
            else if (in_name(c))
                read_word(&reader);
            else {
                add(&reader, TOKEN_MARK, reader.at, 1, reader.line);
                step(&reader);
            }
        }
    }
}

void tokens_read(struct tokens *tokens, const char *text, size_t size)
{
    read_all(tokens, text, size);
    match_brackets(tokens);
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_MARK) &&
           token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

const struct token *token_at(const struct tokens *tokens, size_t index)
{
    static const struct token nothing = {TOKEN_MARK, "", 0, 0, 0};
    return index < tokens->count ? &tokens->list[index] : &nothing;
}

bool token_is_any(const struct token *token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (token_is(token, *words))
            return true;
    return false;
}

const struct token *token_before(const struct tokens *tokens, size_t index, size_t distance)
{
    return token_at(tokens, index >= distance ? index - distance : SIZE_MAX);
}

bool token_is_call(const struct tokens *tokens, size_t index)
{
    static const char *const statements[] = {"return", "else", "do", NULL};
    const struct token *before = token_before(tokens, index, 1);
    bool declared = before->kind == TOKEN_NAME && !token_is_any(before, statements);
    return tokens->list[index].kind == TOKEN_NAME && token_is(token_at(tokens, index + 1), "(") &&
           !declared;
}

size_t token_closing(const struct tokens *tokens, size_t index)
{
    return index < tokens->count ? tokens->list[index].closing : tokens->count;
}

size_t token_behind_brackets(const struct tokens *tokens, size_t index)
{
    while (token_is(token_at(tokens, index), "["))
        index = token_closing(tokens, index) + 1;
    return index;
}

size_t token_behind_casts(const struct tokens *tokens, size_t index)
{
    size_t at = index;
    for (int casts = 0; casts < 4 && token_is(token_at(tokens, at), "("); casts++)
        at = token_closing(tokens, at) + 1;
    return token_at(tokens, at)->kind == TOKEN_NAME ? at : index;
}

char *token_string(const struct token *token)
{
    return tool_format("%.*s", (int)token->length, token->text);
}
