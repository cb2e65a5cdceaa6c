/*
 * declaration.c - a kernel's parameters as its source declares them, which a host image has as
 * text.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/declaration.h"

#include <ctype.h>
#include <string.h>

#include "image/parameter.h"

/* ---- text ------------------------------------------------------------------------------------ */

#define MOST_WORDS 6 /* of a declaration that is understood: unsigned long long int x */

/* What has been seen of a parameter's declaration. */
struct declaration {
    const char *word[MOST_WORDS]; /* of its type, and its name, without qualifiers */
    size_t length[MOST_WORDS];
    size_t words;
    bool pointer;   /* a *, [] or (* */
    bool reference; /* C++'s, even if to a pointer */
    bool strange;   /* what is not understood; a pointer to it is a pointer all the same */
};

static bool is(const struct declaration *declaration, size_t index, const char *word)
{
    return strlen(word) == declaration->length[index] &&
           memcmp(declaration->word[index], word, declaration->length[index]) == 0;
}

/* Past the bracket at AT and the one that closes it; at the end of the text where none does. */
static const char *past_group(const char *at)
{
    size_t depth = 0;
    do {
        depth += strchr("([{<", *at) != NULL;
        depth -= strchr(")]}>", *at) != NULL;
        at++;
    } while (depth > 0 && *at != '\0');
    return at;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Past the word at AT, which goes into DECLARATION unless it says nothing of the type. */
static const char *take_word(const char *at, struct declaration *declaration)
{
    static const char *const silent[] = {"const",        "volatile", "restrict",     "__restrict",
                                         "__restrict__", "register", "__attribute__"};
    size_t length = 0, index = declaration->words;
    while (is_letter(at[length]))
        length++;
    if (index == MOST_WORDS) {
        declaration->strange = true;
        return at + length;
    }
    declaration->word[index] = at;
    declaration->length[index] = length;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (is(declaration, index, silent[i])) {
            at += length;
            while (*at == ' ')
                at++;
            return *at == '(' ? past_group(at) : at; /* of an attribute */
        }
    declaration->words++;
    return at + length;
}

/* Past one token of a declaration. */
static const char *take(const char *at, struct declaration *declaration)
{
    if (is_letter(*at))
        return take_word(at, declaration);
    if (*at == '*')
        declaration->pointer = true;
    else if (*at == '[' && at[1] == '[') /* an attribute */
        return past_group(at);
    else if (*at == '[' || (*at == '(' && at[1] == '*')) {
        declaration->pointer = true;
        return past_group(at);
    } else if (strchr("([{<", *at) != NULL) {
        declaration->strange = true;
        return past_group(at);
    } else if (*at != ' ') {
        declaration->reference |= *at == '&';
        declaration->strange = true;
    }
    return at + 1;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint16_t kind, width;
} types[] = {
    /* rex_arg is the same type as these: how many bytes of it are used nobody knows */
    {"uint64_t", REX_KIND_WORD, 0},  {"uintptr_t", REX_KIND_WORD, 0},
    {"size_t", REX_KIND_WORD, 0},    {"int64_t", REX_KIND_VALUE, 8},
    {"intptr_t", REX_KIND_VALUE, 8}, {"ptrdiff_t", REX_KIND_VALUE, 8},
    {"int32_t", REX_KIND_VALUE, 4},  {"uint32_t", REX_KIND_VALUE, 4},
    {"int16_t", REX_KIND_VALUE, 2},  {"uint16_t", REX_KIND_VALUE, 2},
    {"int8_t", REX_KIND_VALUE, 1},   {"uint8_t", REX_KIND_VALUE, 1},
    {"_Bool", REX_KIND_VALUE, 1},    {"bool", REX_KIND_VALUE, 1},
    {"float", REX_KIND_FLOATING, 4}, {"double", REX_KIND_FLOATING, 8},
};

/* Words of the language that can stand together. */
enum part { LONG, SHORT, CHAR, UNSIGNED, SIGNED, INT, PARTS };
static const char *const parts[PARTS] = {"long", "short", "char", "unsigned", "signed", "int"};

static enum part part_of(const struct declaration *declaration, size_t index)
{
    enum part part = 0;
    while (part < PARTS && !is(declaration, index, parts[part]))
        part++;
    return part;
}

/* The type of the first WORDS words is made of the language's; false: it is not. */
static bool set_integer(const struct declaration *declaration, size_t words,
                        struct rex_image_parameter *to)
{
    unsigned seen[PARTS + 1] = {0};
    for (size_t i = 0; i < words; i++)
        seen[part_of(declaration, i)]++;
    if (seen[PARTS] > 0)
        return false;
    if (seen[LONG] == 1 && seen[UNSIGNED] > 0)
        rex_parameter_set(to, REX_KIND_WORD, 0);
    else
        rex_parameter_set(to, REX_KIND_VALUE,
                          seen[LONG] > 0    ? 8
                          : seen[SHORT] > 0 ? 2
                          : seen[CHAR] > 0  ? 1
                                            : 4);
    return true;
}

static void set_named(const struct declaration *declaration, struct rex_image_parameter *to)
{
    for (unsigned kind = REX_KIND_WORD; kind < REX_KINDS; kind++)
        if (!rex_kind_has_own_width(kind) && is(declaration, 0, rex_kind_name(kind)))
            rex_parameter_set(to, kind, 0);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(declaration, 0, types[i].name))
            rex_parameter_set(to, types[i].kind, types[i].width);
}

/* What DECLARATION says; a type that is not known here is unknown. */
static void set_declared(const struct declaration *declaration, struct rex_image_parameter *to)
{
    size_t words = declaration->words;
    rex_parameter_set(
        to, declaration->pointer && !declaration->reference ? REX_KIND_POINTER : REX_KIND_UNKNOWN,
        0);
    if (declaration->pointer || declaration->strange || words == 0)
        return;
    words -= words > 1 && part_of(declaration, words - 1) == PARTS; /* the parameter's name */
    if (!set_integer(declaration, words, to) && words == 1)
        set_named(declaration, to);
}

/* ---- a kernel ------------------------------------------------------------------------------- */

long rex_declaration_parse(const char *at, bool *env, struct rex_image_parameter *to)
{
    long count = 0;
    *env = *at == '1';
    if ((*at != '0' && *at != '1') || at[1] != '(')
        return -1;
    for (at += 2;; at++) {
        struct declaration declaration = {.words = 0};
        while (*at != '\0' && *at != ',' && *at != ')')
            at = take(at, &declaration);
        bool empty = declaration.words == 0 || is(&declaration, 0, "void");
        if (*at == ')' && count == 0 && empty && !declaration.pointer && !declaration.strange)
            break;
        if (to != NULL)
            set_declared(&declaration, &to[count]);
        count++;
        if (*at != ',')
            break;
    }
    return strcmp(at, ")") == 0 ? count : -1;
}
