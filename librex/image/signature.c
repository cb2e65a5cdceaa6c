/*
 * signature.c - what rex/kernel.h says of a kernel's parameters in its image, and parameters in
 * words.
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

#include "base/log.h"

/* ---- parameters ------------------------------------------------------------------------------ */

static const struct {
    const char *name; /* as a program writes the type */
    uint16_t width;   /* bytes of the value; 0: any number, or not told by the kind */
} kinds[] = {
    [REX_KIND_UNKNOWN] = {"?", 0},   [REX_KIND_POINTER] = {"pointer", 8},
    [REX_KIND_WORD] = {"value", 0},  [REX_KIND_VALUE] = {"struct", 0},
    [REX_KIND_I8] = {"int8_t", 1},   [REX_KIND_U8] = {"uint8_t", 1},
    [REX_KIND_I16] = {"int16_t", 2}, [REX_KIND_U16] = {"uint16_t", 2},
    [REX_KIND_I32] = {"int", 4},     [REX_KIND_U32] = {"unsigned", 4},
    [REX_KIND_I64] = {"int64_t", 8}, [REX_KIND_U64] = {"uint64_t", 8},
    [REX_KIND_F32] = {"float", 4},   [REX_KIND_F64] = {"double", 8},
    [REX_KIND_BOOL] = {"bool", 1},
};
_Static_assert(sizeof kinds / sizeof *kinds == REX_KIND_BOOL + 1, "each kind has a row");

static bool is_known(unsigned long kind)
{
    return kind < sizeof kinds / sizeof *kinds && kinds[kind].name != NULL;
}

const char *rex_kind_name(unsigned kind)
{
    return kinds[is_known(kind) ? kind : REX_KIND_UNKNOWN].name;
}

const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX])
{
    bool sized = parameter->kind == REX_KIND_VALUE || parameter->kind == REX_KIND_WORD;
    if (!sized || parameter->width == 0)
        return rex_kind_name(parameter->kind);
    snprintf(text, REX_PARAMETER_MAX, "%s of %u byte%s", rex_kind_name(parameter->kind),
             parameter->width, parameter->width == 1 ? "" : "s");
    return text;
}

void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX])
{
    static const char more[] = ", ...)";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        char text_of_one[REX_PARAMETER_MAX];
        const char *one = rex_parameter_print(&parameters[i], text_of_one);
        if (length + strlen(", ") + strlen(one) + sizeof more > REX_SIGNATURE_MAX) {
            memcpy(text + length, more, sizeof more);
            return;
        }
        length += (size_t)sprintf(text + length, "%s%s", i == 0 ? "(" : ", ", one);
    }
    strcpy(text + length, count > 0 ? ")" : "()");
}

/* ---- mangled --------------------------------------------------------------------------------- */

/*
 * The name of the kernel in the mangled name of its signature, *LENGTH bytes; NULL where NAME is
 * none: _Z28rex_signature_axpy__kernel__P9rex_kindsIJ...EE, with _ZN, the names of namespaces and E
 * around it inside one.
 */
static const char *mangled_kernel(const char *name, size_t *length)
{
    const char *prefix = strncmp(name, "_Z", 2) == 0 ? strstr(name, REX_SIGNATURE_PREFIX) : NULL,
               *digits = prefix;
    if (prefix == NULL)
        return NULL;
    while (isdigit((unsigned char)digits[-1]))
        digits--;
    unsigned long whole = digits < prefix ? strtoul(digits, NULL, 10) : 0;
    if (whole <= strlen(REX_SIGNATURE_PREFIX) || whole > strlen(prefix))
        return NULL;
    *length = whole - strlen(REX_SIGNATURE_PREFIX);
    return prefix + strlen(REX_SIGNATURE_PREFIX);
}

bool rex_signature_is_mangled(const char *name)
{
    size_t length;
    return mangled_kernel(name, &length) != NULL;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A form and then kinds: "Lj12E" each, or of 2 bytes up to END, where that is not NULL. */
struct numbers {
    const char *at, *end;
};

static bool next_number(struct numbers *from, unsigned long *number)
{
    uint16_t word;
    char *end;
    if (from->end != NULL) {
        if (from->end - from->at < (ptrdiff_t)sizeof word)
            return false;
        memcpy(&word, from->at, sizeof word);
        *number = word;
        from->at += sizeof word;
        return true;
    }
    if (strncmp(from->at, "Lj", 2) != 0 || !isdigit((unsigned char)from->at[2]))
        return false;
    *number = strtoul(from->at + 2, &end, 10);
    if (*end != 'E')
        return false;
    from->at = end + 1;
    return true;
}

#define MOST_PARAMETERS (UINT16_MAX / 8) /* words of 8 bytes, each of which has an offset */
#define FORM_0_1 2                       /* forms below it are of librex 0.1 */
#define KIND_FLOATING_0_1 4              /* its floating point by value */

/*
 * NUMBER is a kind in its low byte, and above it the width where the kind does not tell. Another
 * number makes the parameter unknown. In 0.1 a parameter that was no rex_arg took any value of its
 * width.
 */
static void set(struct rex_image_parameter *to, unsigned long form, unsigned long number)
{
    unsigned long kind = number & 0xff, width = number >> 8;
    if (form < FORM_0_1 && (kind == REX_KIND_VALUE || kind == KIND_FLOATING_0_1))
        kind = REX_KIND_WORD;
    bool sized = kind == REX_KIND_VALUE || kind == REX_KIND_WORD;
    bool known = is_known(kind) && width <= 4096 && (kind != REX_KIND_VALUE || width > 0);
    to->kind = known ? (uint16_t)kind : REX_KIND_UNKNOWN;
    to->width = known && sized ? (uint16_t)width : kinds[to->kind].width;
}

/*
 * An argument is read as wide as the signature tells. If it were wider than its parameter, bytes
 * behind the parameter would be read: then nothing of the signature is kept.
 */
static bool is_wider(const struct rex_view *view, const struct rex_image_symbol *kernel)
{
    struct rex_image_parameter *parameters = view->parameters + kernel->first;
    size_t i = 0;
    while (i < kernel->parameters && parameters[i].width <= parameters[i].size)
        i++;
    if (i == kernel->parameters)
        return false;
    rex_log(REX_LOG_WARN,
            "kernel \"%s\": parameter %zu has %u bytes by its signature, and %u by the image: the "
            "signature is not used",
            kernel->name, i, parameters[i].width, parameters[i].size);
    for (i = 0; i < kernel->parameters; i++)
        set(&parameters[i], FORM_0_1, REX_KIND_UNKNOWN);
    return true;
}

static void tell(struct rex_view *view, struct rex_image_symbol *kernel, struct numbers numbers)
{
    unsigned long form = 0, number = 0;
    if (kernel == NULL || !next_number(&numbers, &form) || form > 3)
        return;
    bool env = form & 1; /* the runtime's parameter is in front */
    size_t count = env;
    struct numbers rest = numbers;
    while (next_number(&rest, &number))
        count++;
    bool ends = rest.end != NULL ? rest.at == rest.end : strcmp(rest.at, "EE") == 0;
    if (!ends || count > MOST_PARAMETERS)
        return;
    /* A host image tells of a kernel's parameters by the signature alone: words of 8 bytes. */
    if (view->kind == REX_IMAGE_HOST && kernel->parameters == REX_PARAMETERS_UNKNOWN) {
        if (!rex_view_add_parameters(view, count, &kernel->first))
            return;
        kernel->parameters = (uint16_t)count;
        for (size_t i = 0; i < count; i++)
            view->parameters[kernel->first + i] =
                (struct rex_image_parameter){.offset = (uint16_t)(8 * i), .size = 8};
    }
    if (kernel->parameters != count)
        return;
    if (env)
        set(&view->parameters[kernel->first], FORM_0_1, REX_KIND_POINTER);
    for (size_t i = env; next_number(&numbers, &number); i++)
        set(&view->parameters[kernel->first + i], form, number);
    /* Where there are none, ->parameters may be NULL. */
    kernel->signature = count == 0 || !is_wider(view, kernel);
    kernel->env = kernel->signature && env;
    kernel->plain = kernel->signature && !env;
}

/* ---- told to a view -------------------------------------------------------------------------- */

void rex_signature_read_mangled(struct rex_view *view, const char *mangled)
{
    size_t length;
    const char *kernel = mangled_kernel(mangled, &length), *behind = kernel + length;
    const char *numbers = rex_name_after(behind + (*behind == 'E'), "P9rex_kindsIJ");
    if (numbers != NULL)
        tell(view, rex_view_kernel(view, kernel, length), (struct numbers){numbers, NULL});
}

void rex_signature_read_numbers(struct rex_view *view, struct rex_image_symbol *kernel,
                                const char *bytes, size_t size)
{
    tell(view, kernel, (struct numbers){bytes, bytes + size});
}
