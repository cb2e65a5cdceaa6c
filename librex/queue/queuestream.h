/*
 * queuestream.h - the stream of a queue: librex's own, or one that the program owns.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUESTREAM_H
#define REX_INTERNAL_QUEUESTREAM_H

#include "queue/queuestate.h"

/* The stream of a new queue: its own, or THEIRS. */
struct rex_stream_of {
    bool is_theirs;
    void *theirs; /* NULL: the driver's default stream */
};

/* Give QUEUE, on GPU ORDINAL, its stream, and load MODULE's image there. Returns 0 or an error. */
int rex_queue_stream_open(struct rex_queue *queue, int ordinal, struct rex_module *module,
                          const struct rex_stream_of *stream);

/* Destroy the stream unless the program owns it. */
void rex_queue_stream_close(struct rex_queue *queue);

#endif
