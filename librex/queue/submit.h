/*
 * submit.h - commands and graphs on their way to a stream of the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SUBMIT_H
#define REX_INTERNAL_SUBMIT_H

#include "queue/command.h"

/*
 * Put COMMAND in STREAM. The context is current. 0 or an error; *KERNEL receives what was launched,
 * and is left alone by other commands.
 */
int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_queue_kernel **kernel);

/* Put the driver's EXECUTABLE graph in STREAM. 0, or -1 with rex_cuda_why(). */
int rex_graph_submit(void *executable, void *stream);

#endif
