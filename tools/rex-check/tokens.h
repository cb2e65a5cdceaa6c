/*
 * tokens.h - a C, C++ or CUDA source as tokens.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TOKENS_H
#define CHECK_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK, TOKEN_INCLUDE };

/* A string and an include are without their quotes; a mark is one character. */
struct token {
    enum token_kind kind;
    const char *text;
    size_t length, line;
    size_t closing; /* of a bracket that opens: the index of the one that closes it */
};

struct tokens {
    struct token *list;
    size_t count;
};

/*
 * The tokens of SIZE bytes of TEXT, which must outlive them. Comments, other directives than
 * includes, and `#if 0` are left out.
 */
void tokens_read(struct tokens *tokens, const char *text, size_t size);

/* Whether TOKEN is the name, or the mark, TEXT. */
bool token_is(const struct token *token, const char *text);

/* Whether TOKEN is one of WORDS, whose last is NULL. */
bool token_is_any(const struct token *token, const char *const *words);

/* The token at INDEX, or DISTANCE before it; past either end, one that is nothing. */
const struct token *token_at(const struct tokens *tokens, size_t index);
const struct token *token_before(const struct tokens *tokens, size_t index, size_t distance);

/* Whether the name at INDEX is called; `int f(void)` declares it. */
bool token_is_call(const struct tokens *tokens, size_t index);

/* The index of the bracket that closes the one at INDEX; the number of tokens if none does. */
size_t token_closing(const struct tokens *tokens, size_t index);

/* The token behind the brackets at INDEX, one pair of [] or several, or none. */
size_t token_behind_brackets(const struct tokens *tokens, size_t index);

/* The name at INDEX, or behind casts there; INDEX itself where none is. */
size_t token_behind_casts(const struct tokens *tokens, size_t index);

/* TOKEN as a string, which the caller frees. */
char *token_string(const struct token *token);

#endif
