/*
 * tokens.c - splits a C, C++ or CUDA source into tokens.
 *
 * Macros are not expanded: the output of a generator is checked as it is written.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "tokens.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"

#define NO_BRACKET SIZE_MAX
/* maximum number of unclosed brackets that one closing bracket skips, such as the "[" in "([)" */
#define MOST_UNCLOSED 64
/* maximum depth of nested #if at which read_directive() saves the open brackets */
#define MOST_AROUND 64

struct reader {
    struct tokens *tokens;
    const char *at, *end;
    size_t line;
    size_t depth; /* number of #if that have no #endif yet */
    size_t off;   /* depth of the innermost #if 0, or 0 */
    /* index of the innermost open bracket: at the current token, and at each open #if */
    size_t innermost, around[MOST_AROUND];
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

/*
 * Adds the token of KIND in line LINE: the characters from FROM to the current position of READER.
 * Does nothing inside #if 0.
 */
static void add(struct reader *reader, enum token_kind kind, const char *from, size_t line)
{
    struct tokens *tokens = reader->tokens;
    if (reader->off > 0)
        return;
    tokens->list = tool_grow(tokens->list, tokens->count, sizeof *tokens->list);
    tokens->list[tokens->count++] = (struct token){.kind = kind,
                                                   .conditional = reader->depth > 0,
                                                   .text = from,
                                                   .length = (size_t)(reader->at - from),
                                                   .line = line};
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- comments and directives ----------------------------------------------------------------- */

static bool skip_comment(struct reader *reader)
{
    bool block = looking_at(reader, "/*");
    if (!block && !looking_at(reader, "//"))
        return false;
    reader->at += 2;
    while (more(reader) && !(block ? looking_at(reader, "*/") : *reader->at == '\n')) {
        if (!block && looking_at(reader, "\\\n"))
            step(reader);
        step(reader);
    }
    reader->at += block && more(reader) ? 2 : 0;
    return true;
}

/* Skips to the end of a directive, which a backslash or a comment may continue on the next line. */
static void skip_directive(struct reader *reader)
{
    while (more(reader) && *reader->at != '\n') {
        if (skip_comment(reader))
            continue;
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
    const char *behind = reader->at + strlen(text);
    if (!looking_at(reader, text) || (behind < reader->end && in_name(*behind)))
        return false;
    reader->at = behind;
    skip_blanks(reader);
    return true;
}

/*
 * At #else and #elif, the open brackets become the brackets that were open at the #if. Example:
 * `f(a) {` is after the #if, `f(b) {` is after the #else, and `}` is after the #endif. Only the `{`
 * of the #else then stays open, and the `}` closes it.
 */
static void read_directive(struct reader *reader)
{
    size_t line = reader->line, *around = reader->around;
    step(reader);
    skip_blanks(reader);
    bool include = word(reader, "include");
    if (include || word(reader, "define")) {
        const char *from = reader->at;
        skip_directive(reader);
        add(reader, include ? TOKEN_INCLUDE : TOKEN_DEFINE, from, line);
    } else if (word(reader, "if") || word(reader, "ifdef") || word(reader, "ifndef")) {
        if (reader->depth++ < MOST_AROUND)
            around[reader->depth - 1] = reader->innermost;
        if (reader->off == 0 && word(reader, "0"))
            reader->off = reader->depth;
    } else if (reader->depth > 0 && looking_at(reader, "e")) {
        bool end = word(reader, "endif"), other = word(reader, "else") || word(reader, "elif");
        if (reader->off == reader->depth && (end || other))
            reader->off = 0;
        else if (other && reader->depth <= MOST_AROUND)
            reader->innermost = around[reader->depth - 1];
        reader->depth -= end;
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
        add(reader, TOKEN_STRING, from, line);
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
    add(reader, number ? TOKEN_NUMBER : TOKEN_NAME, from, reader->line);
}

/* Closes the bracket that matches CLOSE, and all brackets that are open inside it. */
static void close_bracket(struct reader *reader, char close)
{
    struct token *list = reader->tokens->list;
    char open = close == ')' ? '(' : close == ']' ? '[' : '{';
    size_t at = reader->innermost;
    for (int i = 0; at != NO_BRACKET && *list[at].text != open; at = list[at].outer, i++)
        if (i == MOST_UNCLOSED || *list[at].text == '{')
            return;
    while (at != NO_BRACKET && reader->innermost != list[at].outer) {
        list[reader->innermost].closing = reader->tokens->count - 1;
        reader->innermost = list[reader->innermost].outer;
    }
}

static void read_mark(struct reader *reader)
{
    const char *mark = reader->at;
    step(reader);
    add(reader, TOKEN_MARK, mark, reader->line);
    if (reader->off > 0)
        return;
    if (*mark == '(' || *mark == '{' || *mark == '[') {
        size_t index = reader->tokens->count - 1;
        reader->tokens->list[index].outer = reader->innermost;
        reader->innermost = index;
    } else if (*mark == ')' || *mark == '}' || *mark == ']')
        close_bracket(reader, *mark);
}

void tokens_read(struct tokens *tokens, const char *text, size_t size)
{
    struct reader reader = {tokens, text, text + size, 1, 0, 0, NO_BRACKET, {0}};
    bool line_begins = true;
    while (more(&reader)) {
        char c = *reader.at;
        if (skip_comment(&reader))
            continue;
        if (isspace((unsigned char)c))
            step(&reader);
        else if (c == '#' && line_begins)
            read_directive(&reader);
        else if (c == '"' || c == '\'')
            read_quoted(&reader);
        else if (in_name(c))
            read_word(&reader);
        else
            read_mark(&reader);
        line_begins = c == '\n' || (line_begins && isspace((unsigned char)c));
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_MARK) &&
           token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool token_is_any(const struct token *token, const char *const *words)
{
    while (*words != NULL && !token_is(token, *words))
        words++;
    return *words != NULL;
}

bool token_has(const struct token *token, const char *text)
{
    return memmem(token->text, token->length, text, strlen(text)) != NULL;
}

bool token_ends(const struct token *token, const char *text)
{
    size_t length = strlen(text);
    return token->length >= length &&
           memcmp(token->text + token->length - length, text, length) == 0;
}

const struct token *token_at(const struct tokens *tokens, size_t index)
{
    static const struct token nothing = {.kind = TOKEN_MARK, .text = ""};
    return index < tokens->count ? &tokens->list[index] : &nothing;
}

bool token_is_call(const struct tokens *tokens, size_t index)
{
    static const char *const statements[] = {"return", "else", "do", NULL};
    const struct token *before = token_at(tokens, index - 1);
    bool declared = before->kind == TOKEN_NAME && !token_is_any(before, statements);
    return tokens->list[index].kind == TOKEN_NAME && token_is(token_at(tokens, index + 1), "(") &&
           !declared;
}

size_t token_body(const struct tokens *tokens, size_t index, size_t body)
{
    const struct token *before = token_at(tokens, index - 1);
    if (body > 0 && index < token_closing(tokens, body))
        return body;
    /* K&R functions have the types of parameters after the parentheses. */
    return token_is(&tokens->list[index], "{") && (token_is(before, ")") || token_is(before, ";"))
               ? index
               : 0;
}

size_t token_closing(const struct tokens *tokens, size_t index)
{
    size_t closing = token_at(tokens, index)->closing;
    return closing > index ? closing : tokens->count;
}
