/*
 * peer.h - copies in a queue from device memory to device memory, of the same GPU or another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PEER_H
#define REX_INTERNAL_PEER_H

#include "queue/command.h"

/* The device of COMMAND, a copy between devices, that is not NUMBER; NUMBER where both are. */
int rex_peer_other(const struct rex_command *command, int number);

/* Put COMMAND in STREAM of the GPU, whose context is current. 0 or an error. */
int rex_peer_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command);

#endif
