/*
 * tokens.h - splits a C, C++ or CUDA source into tokens.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TOKENS_H
#define CHECK_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of a TOKEN_STRING has no quotes. A TOKEN_MARK is one punctuation character, such as a
 * bracket. The text of a TOKEN_INCLUDE is the directive after `#include`, with the quotes of a file
 * name. The text of a TOKEN_DEFINE is the name and the replacement of the macro.
 */
enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK, TOKEN_INCLUDE, TOKEN_DEFINE };

struct token {
    enum token_kind kind;
    bool conditional; /* between an #if and its #endif */
    const char *text;
    size_t length, line;
    size_t closing; /* if the token is an opening bracket: index of the closing bracket */
    size_t outer;   /* if the token is an opening bracket: index of the bracket around it */
};

struct tokens {
    const char *path; /* path of the file */
    struct token *list;
    size_t count;
};

/*
 * Reads the tokens of SIZE bytes of TEXT, which must outlive the tokens. Skips comments, `#if 0`,
 * and all directives except includes and definitions.
 */
void tokens_read(struct tokens *tokens, const char *text, size_t size);

/*
 * token_is() returns true if TOKEN equals TEXT. token_is_any() returns true if TOKEN equals one of
 * WORDS. The last of WORDS is NULL. Both functions return false if TOKEN is neither a TOKEN_NAME
 * nor a TOKEN_MARK.
 */
bool token_is(const struct token *token, const char *text);
bool token_is_any(const struct token *token, const char *const *words);

/*
 * TOKEN may be of any kind. token_has() returns true if TOKEN contains TEXT. token_ends() returns
 * true if TOKEN ends with TEXT.
 */
bool token_has(const struct token *token, const char *text);
bool token_ends(const struct token *token, const char *text);

/* Returns the token at INDEX, or an empty token if INDEX is past either end. */
const struct token *token_at(const struct tokens *tokens, size_t index);

/*
 * Returns true if the token at INDEX is the name in a call, not in a declaration such as `int
 * f(void)`.
 */
bool token_is_call(const struct tokens *tokens, size_t index);

/*
 * If the token INDEX is in the body of a function, returns the index of the body's `{`. If not,
 * returns 0. Call this function for all tokens in order. BODY is the result for token INDEX - 1, or
 * 0 for the first token.
 */
size_t token_body(const struct tokens *tokens, size_t index, size_t body);

/*
 * Returns the index of the bracket that closes the bracket at INDEX; the number of tokens if no
 * bracket closes it.
 */
size_t token_closing(const struct tokens *tokens, size_t index);

#endif
