/*
 * hostqueue.h - commands on a device that is no NVIDIA GPU: libomptarget does them, at once.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTQUEUE_H
#define REX_INTERNAL_HOSTQUEUE_H

#include "queue/command.h"

/* Do COMMAND now, on device NUMBER. 0 or an error. */
int rex_command_do(int number, const struct rex_command *command);

/* Whether COMMAND could be done on device NUMBER: 0 or an error. */
int rex_command_check(const struct rex_command *command, int number);

#endif
