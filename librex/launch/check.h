/*
 * check.h - finds errors in a launch before libomptarget or the driver gets it.
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
 * Tell whether the kernel is plain or env, by the ROWS that are arguments out of COUNT rows, and
 * remember it. Returns 0 with *FORM, or an error.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, uint32_t count,
                   enum rex_kernel_form *form);

/* The same for the rows of MAP. */
int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form);

/*
 * Check the rows of ARGS against the kernel's parameters. Returns 0 with the kernel's form in
 * *FORM, or an error. The form is remembered, and that this number of rows was right.
 */
int rex_check_parameters(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                         enum rex_kernel_form *form);

/*
 * Check the packet ARGS before libomptarget launches it. The first one with its number of rows is
 * also checked against the kernel's parameters. Returns 0 with the kernel's form in *FORM, or an
 * error.
 */
int rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                     enum rex_kernel_form *form);

/* A strict launch must give its whole grid: 0 or REX_EINVAL. The message names the launch WHAT. */
int rex_check_strict(const struct rex_launch_config *launch, const char *what);

/*
 * Check a grid and DYNAMIC bytes of dynamic shared memory for a launch by the driver: 0 or an
 * error.
 */
int rex_check_gpu_grid(const struct rex_target *target, const uint32_t *teams,
                       const uint32_t *threads, uint32_t dynamic);

/* Check the grid and the dynamic shared memory of a fitted PACKET, which RULE describes. */
int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct __tgt_kernel_arguments *packet);

#endif
