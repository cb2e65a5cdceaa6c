/*
 * check.h - what is wrong with a launch before libomptarget sees it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHECK_H
#define REX_INTERNAL_CHECK_H

#include "module/registration.h"

static inline bool rex_packet_columns(const struct __tgt_kernel_arguments *args)
{
    return args->ArgsBase != NULL && args->Args != NULL && args->ArgSizes != NULL &&
           args->ArgTypes != NULL;
}

/*
 * Check the device and the packet ARGS of a launch of the kernel at POSITION; where it is the first
 * one with so many rows, also these against the kernel's parameters, and remember what came of it.
 * 0 or an error.
 */
int rex_packet_check_all(struct rex_registration *registration, int64_t position, int64_t device,
                         const struct __tgt_kernel_arguments *args);

/*
 * The same, inline where there is nothing to say: the caller's launches come here one after the
 * other.
 */
static inline int rex_packet_check(struct rex_registration *registration, int64_t position,
                                   int64_t device, const struct __tgt_kernel_arguments *args)
{
    bool usual = args != NULL && args->NumArgs <= INT32_MAX && rex_packet_columns(args) &&
                 rex_device_known(device) &&
                 rex_table_rule(&registration->table, position).checked == args->NumArgs + 1;
    return usual ? 0 : rex_packet_check_all(registration, position, device, args);
}

/*
 * Check the grid and the dynamic shared memory of a fitted PACKET, to be launched by RULE. 0 or an
 * error.
 */
int rex_packet_check_grid(const struct rex_registration *registration,
                          const struct rex_packet_rule *rule, int64_t position,
                          const struct __tgt_kernel_arguments *packet);

#endif
