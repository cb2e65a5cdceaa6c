/*
 * check.h - what is wrong with a launch, before anybody else sees it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHECK_H
#define REX_INTERNAL_CHECK_H

#include "module/modules.h"
#include "rex/launch.h"
#include "rex/map.h"

static inline bool rex_packet_columns(const struct __tgt_kernel_arguments *args)
{
    return args->ArgsBase != NULL && args->Args != NULL && args->ArgSizes != NULL &&
           args->ArgTypes != NULL;
}

/*
 * Whether a launch with ROWS rows that are parameters, of COUNT, is of a plain or of an env kernel,
 * which is remembered: 0 with *FORM, or an error.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, uint32_t count,
                   enum rex_kernel_form *form);

/* The same for the rows of MAP. */
int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form);

/*
 * Check the rows of ARGS against the kernel's parameters: 0 with its form in *FORM, which is
 * remembered, as is that so many rows were right; or an error.
 */
int rex_check_parameters(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                         enum rex_kernel_form *form);

/*
 * Check the packet ARGS, which libomptarget is to launch; where it is the first one with so many
 * rows, also these against the kernel's parameters. 0 with the kernel's form in *FORM, or an error.
 */
int rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                     enum rex_kernel_form *form);

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

/* A strict launch must give its grid whole: 0 or REX_EINVAL, with a message that calls it WHAT. */
int rex_check_strict(const struct rex_launch_config *launch, const char *what);

/*
 * Check a grid, and DYNAMIC bytes of dynamic shared memory, that the driver is to launch: 0 or an
 * error.
 */
int rex_check_gpu_grid(const struct rex_target *target, const uint32_t *teams,
                       const uint32_t *threads, uint32_t dynamic);

/* Check the grid and the dynamic shared memory of a fitted PACKET, to be launched by RULE. */
int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct __tgt_kernel_arguments *packet);

#endif
