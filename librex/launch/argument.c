/*
 * argument.c - the message for an argument of a launch that does not fit its parameter.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/argument.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "image/signature.h"
#include "memory/rowcheck.h"

/* The words for ARGUMENT in a message. */
static const char *name_argument(const struct rex_argument *argument, char text[80])
{
    unsigned kind = rex_type_kind(argument->type);
    if (!(argument->type & REX_MAP_LITERAL))
        return "an address of mapped memory";
    if (kind >= REX_KIND_I8)
        return rex_kind_name(kind);
    if (kind == REX_KIND_POINTER)
        return "a pointer";
    snprintf(text, 80, "a value of %lld byte%s", (long long)argument->size,
             argument->size == 1 ? "" : "s");
    return text;
}

/* The bytes of TEXT up to its closing bracket; 0 if there is none. */
static size_t length_in_brackets(const char *text)
{
    size_t length = 0;
    for (int depth = 1; text[length] != '\0'; length++) {
        depth += (text[length] == '(') - (text[length] == ')');
        if (depth == 0)
            return length;
    }
    return 0;
}

/* Whether a cast in front of the LENGTH bytes at TEXT applies to all of them. */
static bool is_operand(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (isalnum((unsigned char)text[i]) || strchr("_.[]()", text[i]) != NULL))
        i++;
    return i == length;
}

/*
 * The end of the message. For a scalar of another type it is the cast to write, ": write
 * REX_VALUE((double)k)"; otherwise it is the row as the program wrote it.
 */
static void advise(const struct rex_declared *declared, const struct rex_image_parameter *parameter,
                   const struct rex_argument *argument, char text[REX_ROW_TEXT + 40])
{
    static const char macro[] = "REX_VALUE(";
    char row[REX_ROW_TEXT];
    const char *value = strstr(rex_row_text(declared->map, (int32_t)argument->row, row), macro);
    size_t length = value != NULL ? length_in_brackets(value + strlen(macro)) : 0;
    if (parameter->kind < REX_KIND_I8 || rex_type_kind(argument->type) < REX_KIND_I8) {
        snprintf(text, REX_ROW_TEXT + 40, "%s", row);
        return;
    }
    value = length > 0 ? value + strlen(macro) : "...";
    length = length > 0 ? length : strlen(value);
    bool bare = is_operand(value, length);
    snprintf(text, REX_ROW_TEXT + 40, ": write REX_VALUE((%s)%s%.*s%s)",
             rex_kind_name(parameter->kind), bare ? "" : "(", (int)length, value, bare ? "" : ")");
}

/* The length of the kernel's name without its tail, as in REX_KERNEL(). */
static int stem_length(const char *name)
{
    static const char tail[] = "__kernel__";
    size_t length = strlen(name), end = strlen(tail);
    return (int)(length > end && strcmp(name + length - end, tail) == 0 ? length - end : length);
}

int rex_wrong_argument(const struct rex_declared *declared, uint32_t index,
                       const struct rex_argument *argument)
{
    const struct rex_image_parameter *parameter = &declared->parameter[index];
    char list[REX_SIGNATURE_MAX], one[REX_PARAMETER_MAX], given[80], advice[REX_ROW_TEXT + 40];
    rex_signature_print(declared->parameter, declared->count, list);
    advise(declared, parameter, argument, advice);
    return rex_fail(REX_EPARAMS, "argument %u of %.*s is %s, its parameter is %s%s%s; it takes %s",
                    index + 1, stem_length(declared->name), declared->name,
                    name_argument(argument, given), parameter->kind < REX_KIND_I8 ? "a " : "",
                    rex_parameter_print(parameter, one), advice, list);
}
