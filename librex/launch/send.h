/*
 * send.h - a launch on its way to libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SEND_H
#define REX_INTERNAL_SEND_H

#include "launch/resolve.h"

/*
 * Launch PACKET, which was fitted by RULE: 0 and what libomptarget returned in *RESULT, or
 * REX_ENOMEM.
 */
int rex_send(const struct rex_target *target, const struct rex_packet_rule *rule,
             struct __tgt_kernel_arguments *packet, int *result);

#endif
