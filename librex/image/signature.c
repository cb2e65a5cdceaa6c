/*
 * signature.c - what rex/kernel.h says of a kernel's parameters in its image.
 *
 * Implements rex_kind_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "rex_signature_"

/* ---- kinds ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint16_t width; /* bytes of the value; 0: any number, or not told by the kind */
} kinds[] = {
    [REX_KIND_UNKNOWN] = {"?", 0},         [REX_KIND_POINTER] = {"pointer", 8},
    [REX_KIND_WORD] = {"rex_arg", 0},      [REX_KIND_VALUE] = {"value", 0},
    [REX_KIND_FLOATING] = {"floating", 0}, [REX_KIND_I8] = {"rex_arg_i8", 1},
    [REX_KIND_U8] = {"rex_arg_u8", 1},     [REX_KIND_I16] = {"rex_arg_i16", 2},
    [REX_KIND_U16] = {"rex_arg_u16", 2},   [REX_KIND_I32] = {"rex_arg_i32", 4},
    [REX_KIND_U32] = {"rex_arg_u32", 4},   [REX_KIND_I64] = {"rex_arg_i64", 8},
    [REX_KIND_U64] = {"rex_arg_u64", 8},   [REX_KIND_F32] = {"rex_arg_f32", 4},
    [REX_KIND_F64] = {"rex_arg_f64", 8},   [REX_KIND_BOOL] = {"rex_arg_b", 1},
};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *rex_kind_name(unsigned kind)
{
    return kinds[kind < KINDS ? kind : REX_KIND_UNKNOWN].name;
}

/* Whether a parameter of KIND is as wide as its type, which the kind does not tell. */
static bool has_own_width(unsigned kind)
{
    return kind == REX_KIND_VALUE || kind == REX_KIND_FLOATING;
}

static void set(struct rex_image_parameter *to, unsigned long kind, unsigned long width)
{
    bool known = kind < KINDS && (!has_own_width((unsigned)kind) || (width > 0 && width <= 4096));
    to->kind = known ? (uint16_t)kind : REX_KIND_UNKNOWN;
    to->width = has_own_width(to->kind) ? (uint16_t)width : kinds[to->kind].width;
}

const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX])
{
    if (!has_own_width(parameter->kind))
        return rex_kind_name(parameter->kind);
    snprintf(text, REX_PARAMETER_MAX, "%s of %u byte%s",
             parameter->kind == REX_KIND_VALUE ? "value" : "floating point", parameter->width,
             parameter->width == 1 ? "" : "s");
    return text;
}

void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX])
{
    static const char more[] = "...)";
    size_t length = 1;
    text[0] = '(';
    for (size_t i = 0; i < count; i++) {
        char text_of_one[REX_PARAMETER_MAX];
        const char *one = rex_parameter_print(&parameters[i], text_of_one);
        size_t size = strlen(one);
        if (length + size + strlen(", ") + sizeof more > REX_SIGNATURE_MAX) {
            memcpy(text + length, more, sizeof more);
            return;
        }
        memcpy(text + length, one, size);
        memcpy(text + length + size, ", ", 2);
        length += size + 2;
    }
    memcpy(text + length - (count > 0 ? 2 : 0), ")", 2);
}

/* ---- mangled --------------------------------------------------------------------------------- */

/*
 * The name of the kernel in the mangled name of its signature, *LENGTH bytes; NULL where NAME is
 * none: _Z28rex_signature_axpy__kernel__P9rex_kindsIJ...EE, with _ZN, the names of namespaces and E
 * around it inside one.
 */
static const char *mangled_kernel(const char *name, size_t *length)
{
    const char *prefix = strncmp(name, "_Z", 2) == 0 ? strstr(name, PREFIX) : NULL,
               *digits = prefix;
    if (prefix == NULL)
        return NULL;
    while (isdigit((unsigned char)digits[-1]))
        digits--;
    unsigned long whole = digits < prefix ? strtoul(digits, NULL, 10) : 0;
    if (whole <= strlen(PREFIX) || whole > strlen(prefix))
        return NULL;
    *length = whole - strlen(PREFIX);
    return prefix + strlen(PREFIX);
}

bool rex_signature_is_mangled(const char *name)
{
    size_t length;
    return mangled_kernel(name, &length) != NULL;
}

/* Of "Lj12E" at *AT, and *AT past it. */
static bool next_number(const char **at, unsigned long *number)
{
    char *end;
    if (strncmp(*at, "Lj", 2) != 0 || !isdigit((unsigned char)(*at)[2]))
        return false;
    *number = strtoul(*at + 2, &end, 10);
    if (*end != 'E')
        return false;
    *at = end + 1;
    return true;
}

/*
 * How many parameters the signature tells whose name goes on at AT, and whether the runtime's is in
 * front of them; what they are, into TO, if that is not NULL. -1: it is none.
 */
static long parse_mangled(const char *at, bool *env, struct rex_image_parameter *to)
{
    static const char head[] = "P9rex_kindsIJ";
    unsigned long number = 0;
    long count = 0;
    at += *at == 'E';
    if (strncmp(at, head, strlen(head)) != 0)
        return -1;
    at += strlen(head);
    if (!next_number(&at, &number) || number > 1)
        return -1;
    *env = number == 1;
    for (; next_number(&at, &number); count++)
        if (to != NULL)
            set(&to[count], number & 0xff, number >> 8);
    return strcmp(at, "EE") == 0 ? count : -1;
}

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
        set(to, REX_KIND_WORD, 0);
    else
        set(to, REX_KIND_VALUE, seen[LONG] > 0 ? 8 : seen[SHORT] > 0 ? 2 : seen[CHAR] > 0 ? 1 : 4);
    return true;
}

static void set_named(const struct declaration *declaration, struct rex_image_parameter *to)
{
    for (unsigned kind = REX_KIND_WORD; kind < KINDS; kind++)
        if (!has_own_width(kind) && is(declaration, 0, kinds[kind].name))
            set(to, kind, 0);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(declaration, 0, types[i].name))
            set(to, types[i].kind, types[i].width);
}

/* What DECLARATION says; a type that is not known here is unknown. */
static void set_declared(const struct declaration *declaration, struct rex_image_parameter *to)
{
    size_t words = declaration->words;
    set(to, declaration->pointer && !declaration->reference ? REX_KIND_POINTER : REX_KIND_UNKNOWN,
        0);
    if (declaration->pointer || declaration->strange || words == 0)
        return;
    words -= words > 1 && part_of(declaration, words - 1) == PARTS; /* the parameter's name */
    if (!set_integer(declaration, words, to) && words == 1)
        set_named(declaration, to);
}

/* As parse_mangled(), of "0(rex_arg n, double *x)" with 1 in front for the runtime's parameter. */
static long parse_text(const char *at, bool *env, struct rex_image_parameter *to)
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

/* ---- told to a view -------------------------------------------------------------------------- */

/* A host image tells of a kernel's parameters by the signature alone: words of 8 bytes. */
static int add_words(struct rex_image_view *view, struct rex_image_symbol *kernel, size_t count)
{
    if (count > UINT16_MAX / 8 || rex_view_add_parameters(view, count, &kernel->first) != 0)
        return count > UINT16_MAX / 8 ? 0 : -1;
    kernel->parameters = (uint16_t)count;
    for (size_t i = 0; i < count; i++)
        view->parameters[kernel->first + i] =
            (struct rex_image_parameter){.offset = (uint16_t)(8 * i), .size = 8};
    return 0;
}

static int tell(struct rex_image_view *view, struct rex_image_symbol *kernel,
                long (*parse)(const char *, bool *, struct rex_image_parameter *), const char *text)
{
    bool env;
    long count = kernel != NULL && kernel->kernel ? parse(text, &env, NULL) : -1;
    if (count < 0)
        return 0;
    size_t all = (size_t)count + env;
    if (view->kind == REX_IMAGE_HOST && kernel->parameters == REX_PARAMETERS_UNKNOWN &&
        add_words(view, kernel, all) != 0)
        return -1;
    if (kernel->parameters != all)
        return 0;
    if (env)
        set(&view->parameters[kernel->first], REX_KIND_POINTER, 0);
    parse(text, &env, view->parameters + kernel->first + env);
    kernel->env = env;
    kernel->plain = !env;
    kernel->signature = true;
    return 0;
}

int rex_signature_read_mangled(struct rex_image_view *view, const char *mangled)
{
    char name[1024];
    size_t length;
    const char *kernel = mangled_kernel(mangled, &length);
    if (kernel == NULL || length >= sizeof name)
        return 0;
    memcpy(name, kernel, length);
    name[length] = '\0';
    return tell(view, rex_view_find(view, name), parse_mangled, kernel + length);
}

const char *rex_signature_of(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? name + strlen(PREFIX) : NULL;
}

int rex_signature_read_text(struct rex_image_view *view, const char *name, const char *text)
{
    return tell(view, rex_view_find(view, name), parse_text, text);
}
