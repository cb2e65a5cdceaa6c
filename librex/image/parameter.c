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
_Static_assert(sizeof kinds / sizeof *kinds == REX_KINDS, "each kind has a row");

const char *rex_kind_name(unsigned kind)
{
    return kinds[kind < REX_KINDS ? kind : REX_KIND_UNKNOWN].name;
}

bool rex_kind_has_own_width(unsigned kind)
{
    return kind == REX_KIND_VALUE || kind == REX_KIND_FLOATING;
}

void rex_parameter_set(struct rex_image_parameter *to, unsigned long kind, unsigned long width)
{
    bool known = kind < REX_KINDS &&
                 (!rex_kind_has_own_width((unsigned)kind) || (width > 0 && width <= 4096));
    to->kind = known ? (uint16_t)kind : REX_KIND_UNKNOWN;
    to->width = rex_kind_has_own_width(to->kind) ? (uint16_t)width : kinds[to->kind].width;
}

const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX])
{
    if (!rex_kind_has_own_width(parameter->kind))
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
