/*
 * parameter.c - what a kernel's parameter is: its kind, its width, and both in words.
 *
 * Implements rex_kind_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/parameter.h"

#include <stdio.h>
#include <string.h>

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
_Static_assert(sizeof kinds / sizeof *kinds == REX_KINDS, "each kind has a row");

static bool is_known(unsigned long kind)
{
    return kind < REX_KINDS && kinds[kind].name != NULL;
}

const char *rex_kind_name(unsigned kind)
{
    return kinds[is_known(kind) ? kind : REX_KIND_UNKNOWN].name;
}

void rex_parameter_set(struct rex_image_parameter *to, unsigned long kind, unsigned long width)
{
    bool sized = kind == REX_KIND_VALUE || kind == REX_KIND_WORD;
    bool known = is_known(kind) && width <= 4096 && (kind != REX_KIND_VALUE || width > 0);
    to->kind = known ? (uint16_t)kind : REX_KIND_UNKNOWN;
    to->width = known && sized ? (uint16_t)width : kinds[to->kind].width;
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
