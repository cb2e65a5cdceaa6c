/*
 * tokens.h - a C, C++ or CUDA source as tokens.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TOKENS_H
#define CHECK_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A string is without its quotes, a mark is one character. An include has the rest of its
 * directive, a file in quotes; a definition the macro's name and its replacement.
 */
enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK, TOKEN_INCLUDE, TOKEN_DEFINE };

struct token {
    enum token_kind kind;
    bool conditional; /* between an #if and its #endif */
    const char *text;
    size_t length, line;
    size_t closing; /* of a bracket: the index of the one that closes it */
    size_t outer;   /* of the same: the bracket around it */
};

struct tokens {
    const char *path; /* of the file */
    struct token *list;
    size_t count;
};

/*
 * Read the tokens of SIZE bytes of TEXT, which must outlive them. Comments, other directives than
 * includes and definitions, and `#if 0` are left out.
 */
void tokens_read(struct tokens *tokens, const char *text, size_t size);

/* Whether TOKEN is the name, or the mark, TEXT; one of WORDS, whose last is NULL. */
bool token_is(const struct token *token, const char *text);
bool token_is_any(const struct token *token, const char *const *words);

/* Whether TEXT is in TOKEN, of any kind; whether it ends with it. */
bool token_has(const struct token *token, const char *text);
bool token_ends(const struct token *token, const char *text);

/* The token at INDEX; past either end, one that is nothing. */
const struct token *token_at(const struct tokens *tokens, size_t index);

/* Whether the name at INDEX is called; `int f(void)` declares it. */
bool token_is_call(const struct tokens *tokens, size_t index);

/* The body of a function that INDEX is in, where BODY is the one before; 0: none. */
size_t token_body(const struct tokens *tokens, size_t index, size_t body);

/* The index of the bracket that closes the one at INDEX; the number of tokens if none does. */
size_t token_closing(const struct tokens *tokens, size_t index);

#endif
