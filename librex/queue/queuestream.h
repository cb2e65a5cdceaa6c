/*
 * queuestream.h - the stream of a queue: librex's own, or one that somebody else owns.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUESTREAM_H
#define REX_INTERNAL_QUEUESTREAM_H

#include "queue/queuestate.h"

/* Whose stream a new queue gets: one of its own, or THEIRS. */
struct rex_stream_of {
    bool is_theirs;
    void *theirs; /* NULL: the driver's default stream */
};

/* QUEUE, on GPU ORDINAL, gets its stream; MODULE's image is loaded there. 0 or an error. */
int rex_queue_stream_open(struct rex_queue *queue, int ordinal, struct rex_module *module,
                          const struct rex_stream_of *stream);

/* A stream of its own ends; one of somebody else stays as it is. */
void rex_queue_stream_close(struct rex_queue *queue);

#endif
