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
