/*
 * argument.h - an argument of a launch against its parameter, as far as the program and the image
 * tell their types.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ARGUMENT_H
#define REX_INTERNAL_ARGUMENT_H

#include <stdbool.h>

#include "image/view.h"
#include "rex/map.h"

/*
 * A kernel as its signature tells of it: COUNT parameters, without the runtime's. Where it has no
 * signature their kinds are unknown.
 */
struct rex_declared {
    const char *name;
    const struct rex_image_parameter *parameter;
    uint32_t count;
    const struct rex_map *map; /* of the launch; NULL: it has a packet */
};

/* A row of a launch that is a parameter: its number, and what is in its columns. */
struct rex_argument {
    uint32_t row;
    int64_t type, size;
    const void *base;
};

/* The kind of ARGUMENT, a literal, where the program tells it. */
static inline unsigned rex_argument_kind(const struct rex_argument *argument)
{
    return (unsigned)((uint64_t)argument->type >> 32) & 15;
}

static inline bool rex_kind_is_integer(unsigned kind)
{
    return kind >= REX_KIND_I8 && kind <= REX_KIND_U64;
}

/* Whether ARGUMENT is what PARAMETER takes, as far as both tell. Integers widen as in C. */
static inline bool rex_argument_fits(const struct rex_image_parameter *parameter,
                                     const struct rex_argument *argument)
{
    unsigned kind = rex_argument_kind(argument);
    if (!(argument->type & REX_MAP_LITERAL))
        return parameter->kind <= REX_KIND_POINTER;
    if (rex_kind_is_integer(parameter->kind) &&
        (rex_kind_is_integer(kind) || kind == REX_KIND_BOOL))
        return argument->size <= parameter->width;
    if (parameter->width != 0 && parameter->width != argument->size)
        return false;
    /* no program has memory in its first page */
    if (parameter->kind == REX_KIND_POINTER && (uintptr_t)argument->base - 1 < 4095)
        return false;
    return kind == REX_KIND_UNKNOWN || parameter->kind == REX_KIND_UNKNOWN ||
           parameter->kind == REX_KIND_WORD || parameter->kind == kind;
}

/* ARGUMENT is not what parameter INDEX of DECLARED takes: REX_EPARAMS, with both in its message. */
int rex_wrong_argument(const struct rex_declared *declared, uint32_t index,
                       const struct rex_argument *argument);

#endif
