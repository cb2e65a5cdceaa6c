/*
 * argument.h - compares an argument of a launch with its parameter, as far as the program and the
 * image tell their types.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ARGUMENT_H
#define REX_INTERNAL_ARGUMENT_H

#include <stdbool.h>

#include "image/view.h"
#include "rex/map.h"

/*
 * A kernel as its signature declares it: COUNT parameters, without the runtime's. Without a
 * signature their kinds are unknown.
 */
struct rex_declared {
    const char *name;
    const struct rex_image_parameter *parameter;
    uint32_t count;
    const struct rex_map *map; /* of the launch; NULL: the launch has a packet */
};

/* A row of a launch that is an argument: its number and its columns. */
struct rex_argument {
    uint32_t row;
    int64_t type, size;
    const void *base;
};

/* The kind of a literal of TYPE, if the program tells it. */
static inline unsigned rex_type_kind(int64_t type)
{
    return (unsigned)((uint64_t)type >> 32) & 15;
}

static inline bool rex_kind_is_integer(unsigned kind)
{
    return kind >= REX_KIND_I8 && kind <= REX_KIND_U64;
}

/* Whether ARGUMENT fits PARAMETER, as far as both tell their types. Integers widen as in C. */
static inline bool rex_argument_fits(const struct rex_image_parameter *parameter,
                                     const struct rex_argument *argument)
{
    unsigned kind = rex_type_kind(argument->type);
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

/* Fails with REX_EPARAMS: ARGUMENT does not fit parameter INDEX of DECLARED. */
int rex_wrong_argument(const struct rex_declared *declared, uint32_t index,
                       const struct rex_argument *argument);

#endif
