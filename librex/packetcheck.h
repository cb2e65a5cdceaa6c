/* packetcheck.h - what is wrong with a launch before libomptarget sees it. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_PACKETCHECK_H
#define REX_INTERNAL_PACKETCHECK_H

#include "registration.h"

/*
 * Check the device and the packet ARGS of a launch of the kernel at POSITION; where it is the first one with so many rows, also these against
 * the kernel's parameters, and remember what came of it. 0 or an error.
 */
int rex_packet_check(struct rex_registration *registration, int64_t position, int64_t device, const struct __tgt_kernel_arguments *args);

/* Check the grid and the dynamic shared memory of a fitted PACKET, to be launched by RULE. 0 or an error. */
int rex_packet_check_grid(const struct rex_registration *registration, const struct rex_packet_rule *rule, int64_t position,
                          const struct __tgt_kernel_arguments *packet);

#endif
