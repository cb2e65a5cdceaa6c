/*
 * ptx.c - reads PTX: its target GPU, its kernels with their parameters, and its globals.
 *
 * Reads only declarations outside of all braces: `.entry NAME (.param .u64 P, .param .align 8 .b8
 * Q[16]) .maxntid 256, 1, 1` and `.global .align 8 .b8 NAME[32] = {1, 2}`. Reads the first number
 * of an initialiser. Skips a declaration of an unknown form; the driver's compiler later decides
 * whether the declaration is valid.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *at, *end;
    char *token; /* the token read last */
    size_t length;
    char word[24]; /* begin of the token as a string; no keyword or number is longer */
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool next_token(struct text *text)
{
    for (;;) {
        while (text->at < text->end && isspace((unsigned char)*text->at))
            text->at++;
        size_t left = (size_t)(text->end - text->at);
        if (left < 2 || text->at[0] != '/' || (text->at[1] != '/' && text->at[1] != '*'))
            break;
        const char *close = text->at[1] == '/' ? "\n" : "*/";
        char *found = memmem(text->at + 2, left - 2, close, strlen(close));
        text->at = found != NULL ? found + strlen(close) : text->end;
    }
    if (text->at == text->end || *text->at == '\0')
        return false;
    text->token = text->at;
    if (*text->at == '"') {
        char *close = memchr(text->at + 1, '"', (size_t)(text->end - text->at) - 1);
        text->at = close != NULL ? close + 1 : text->end;
    } else {
        /* .param.b32 is two directives: .param and .b32. */
        bool word = is_word_character(*text->at++), directive = *text->token == '.';
        while (word && text->at < text->end && is_word_character(*text->at) &&
               !(directive && *text->at == '.'))
            text->at++;
    }
    text->length = (size_t)(text->at - text->token);
    size_t kept = text->length < sizeof text->word ? text->length : sizeof text->word - 1;
    memcpy(text->word, text->token, kept);
    text->word[kept] = '\0';
    return true;
}

static bool token_is(const struct text *text, const char *word)
{
    return strcmp(text->word, word) == 0;
}

/*
 * Reads the token as an integer, such as 1, 0x1 or 01; a U may follow. Returns false if the token
 * is not an integer.
 */
static bool token_integer(const struct text *text, unsigned long long *value)
{
    char *end;
    *value = strtoull(text->word, &end, 0);
    return isdigit((unsigned char)*text->word) && text->length < sizeof text->word &&
           (*end == '\0' || strcmp(end, "U") == 0);
}

/* Returns the value of the token, at most UINT32_MAX. Returns 0 if the token is not an integer. */
static uint64_t token_number(const struct text *text)
{
    unsigned long long value;
    if (!token_integer(text, &value))
        return 0;
    return value < UINT32_MAX ? value : UINT32_MAX;
}

/*
 * Returns the token as a NUL-terminated string. Moves the token one byte to the left, over the
 * blank or the sign before the token, because the NUL needs one byte.
 */
static const char *take_name(struct text *text)
{
    memmove(text->token - 1, text->token, text->length);
    text->token[text->length - 1] = '\0';
    return text->token - 1;
}

/* ---- the target ------------------------------------------------------------------------------ */

bool rex_ptx_is(const void *bytes, size_t size, unsigned *architecture, char *suffix)
{
    char *begin = (char *)(uintptr_t)bytes;
    struct text text = {.at = begin, .end = begin + (size < REX_PTX_HEAD ? size : REX_PTX_HEAD)};
    if (!next_token(&text) || !token_is(&text, ".version") || !next_token(&text) ||
        !next_token(&text) || !token_is(&text, ".target") || !next_token(&text))
        return false;
    const char *digits = rex_name_after(text.word, "sm_");
    char *end;
    if (digits == NULL)
        return false;
    unsigned long number = strtoul(digits, &end, 10);
    if (number == 0 || number > UINT32_MAX || strspn(end, "af") != strlen(end) || strlen(end) > 1)
        return false;
    *architecture = (unsigned)number;
    *suffix = *end;
    return true;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* A parameter or a variable. */
struct variable {
    const char *name;
    uint64_t size, alignment;
};

/*
 * If the token is a type such as `.u64`, `.b8` or `.f16x2`, returns the size of the type in bytes.
 * If the token is not a type, returns 0.
 */
static uint64_t type_size(const struct text *text)
{
    unsigned bits;
    int end;
    if (sscanf(text->word, ".%*2[usbf]%4u%n", &bits, &end) != 1)
        return 0;
    if (strcmp(text->word + end, "x2") == 0)
        return bits / 4;
    return text->word[end] == '\0' ? bits / 8 : 0;
}

static uint64_t product_within(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT32_MAX / b ? UINT32_MAX : a * b;
}

/*
 * Reads a variable, and the token that ends the variable: a comma, parenthesis, semicolon, equals
 * sign or brace. Returns false if the text ends before such a token.
 */
static bool read_variable(struct text *text, struct variable *variable)
{
    bool pointer = false; /* after .ptr, .align describes the memory that the pointer refers to */
    bool ends = false;
    unsigned depth = 0; /* nesting depth of parentheses, as in .attribute(...) */
    uint64_t alignment = 0;
    *variable = (struct variable){NULL, 0, 0};
    while (!ends && next_token(text)) {
        if (*text->token == '(')
            depth++;
        else if (depth > 0)
            depth -= *text->token == ')';
        else if (strchr(",);={", *text->token) != NULL)
            ends = true;
        else if (token_is(text, ".ptr"))
            pointer = true;
        else if (token_is(text, ".align") && next_token(text))
            alignment = pointer ? alignment : token_number(text);
        else if (*text->token == '[' && next_token(text))
            variable->size = product_within(variable->size, token_number(text));
        else if (type_size(text) > 0)
            variable->size = variable->alignment = type_size(text);
        else if (is_word_character(*text->token) && *text->token != '.' &&
                 !isdigit((unsigned char)*text->token))
            variable->name = take_name(text);
    }
    variable->alignment = alignment > 0 ? alignment : variable->alignment;
    return ends;
}

/* Reads a kernel after `.entry`, up to its body, or up to a semicolon if there is no body. */
static void read_entry(struct rex_view *view, struct text *text)
{
    struct rex_image_symbol kernel = {.kernel = true, .exec_mode = -1};
    struct variable variable;
    uint64_t offset = 0;
    uint32_t at;
    if (!next_token(text) || !is_word_character(*text->token))
        return;
    kernel.name = take_name(text);
    bool more = next_token(text);
    if (more && *text->token == '(') {
        while ((more = read_variable(text, &variable)) && variable.name != NULL) {
            uint64_t alignment = variable.alignment > 0 ? variable.alignment : 1;
            offset = (offset + alignment - 1) / alignment * alignment;
            bool may_be = offset + variable.size <= UINT16_MAX &&
                          kernel.parameters < REX_PARAMETERS_UNKNOWN - 1;
            if (may_be && rex_view_add_parameters(view, 1, &at)) {
                view->parameters[at] = (struct rex_image_parameter){
                    .offset = (uint16_t)offset, .size = (uint16_t)variable.size};
                if (kernel.parameters == 0)
                    kernel.first = at;
                kernel.parameters++;
                offset += variable.size;
            }
            if (*text->token != ',')
                break;
        }
    }
    bool bounds = false; /* the numbers that follow belong to .maxntid or .reqntid */
    for (; more && *text->token != '{' && *text->token != ';'; more = next_token(text)) {
        if (token_is(text, ".maxntid") || token_is(text, ".reqntid")) {
            kernel.max_threads = 1;
            bounds = true;
        } else if (bounds && isdigit((unsigned char)*text->token))
            kernel.max_threads = (uint32_t)product_within(kernel.max_threads, token_number(text));
        else
            bounds = bounds && *text->token == ',';
    }
    rex_view_add(view, &kernel);
}

int rex_ptx_read(struct rex_view *view, const void *bytes, size_t size)
{
    unsigned depth = 0;
    bool elsewhere = false; /* .extern: declared here, defined in another file */
    /* The driver's compiler stops at the first NUL, so ignore the bytes after the NUL. */
    size = strnlen(bytes, size);
    if (!rex_view_may_take(view, size) || (view->text = malloc(size)) == NULL)
        return -1;
    memcpy(view->text, bytes, size);
    struct text text = {.at = view->text, .end = view->text + size};
    while (next_token(&text)) {
        bool is_global = !elsewhere && (token_is(&text, ".global") || token_is(&text, ".const"));
        struct variable variable;
        if (depth == 0 && token_is(&text, ".entry"))
            read_entry(view, &text);
        if (depth == 0 && is_global && read_variable(&text, &variable) && variable.name != NULL) {
            struct rex_image_symbol global = {
                .name = variable.name, .size = variable.size, .parameters = REX_PARAMETERS_UNKNOWN};
            /*
             * exec_mode is the first byte of the global. It is 0 if the global has no initialiser,
             * and -1 if the initialiser does not begin with a number.
             */
            if (*text.token == '=') {
                struct text ahead = text;
                unsigned long long value;
                bool more, negative = false;
                while ((more = next_token(&ahead)) && strchr("{-", *ahead.token) != NULL)
                    negative |= *ahead.token == '-';
                global.exec_mode = -1;
                if (more && token_integer(&ahead, &value))
                    global.exec_mode = (int16_t)((negative ? 0 - value : value) & 0xff);
            }
            rex_view_add(view, &global);
        }
        elsewhere = token_is(&text, ".extern");
        depth += *text.token == '{';
        depth -= *text.token == '}' && depth > 0;
    }
    return rex_view_index(view);
}
