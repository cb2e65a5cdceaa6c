/*
 * peer.h - copies in a queue between device memory of the same GPU or of two.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PEER_H
#define REX_INTERNAL_PEER_H

#include "queue/command.h"

/* The device of COMMAND, a copy between devices, that is not NUMBER; NUMBER if both are. */
int rex_peer_other(const struct rex_command *command, int number);

/* Put COMMAND in STREAM of the GPU, whose context is current. Returns 0 or an error. */
int rex_peer_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command);

#endif
