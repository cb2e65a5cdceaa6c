/*
 * queuetrace.h - the trace of a queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUETRACE_H
#define REX_INTERNAL_QUEUETRACE_H

#include "queue/queues.h"
#include "trace/trace.h"

#define REX_TIMED_MOST 1024 /* pieces of work of one queue that are not written down yet */

/* Work between two events. */
struct rex_timed {
    void *begin, *end;
    const char *name; /* NULL: a graph of so many launches */
    const char *category;
    enum rex_counted counted;
    uint64_t to, from;
    size_t launches;
};

struct rex_queue_trace {
    struct rex_track track;
    char label[96];
    /* Of a stream: */
    bool blind;            /* the driver cannot, or will not any more */
    void *base;            /* an event that is over, */
    uint64_t base_at;      /* when that was, by the host's clock, in nanoseconds */
    uint64_t anchored;     /* when that was last made sure of */
    uint32_t first, count; /* of the ring */
    struct rex_timed ring[];
};

/* Nothing is in the stream: make sure of the time. The context is current, also in the next two. */
void rex_timed_anchor(struct rex_queue *queue);

/*
 * The place for a piece of work that is about to be put in the stream, with its beginning recorded;
 * NULL where it cannot be timed.
 */
struct rex_timed *rex_timed_begin(struct rex_queue *queue);

/* It is in the stream, and all but the events in TIMED was filled in. */
void rex_timed_end(struct rex_queue *queue, struct rex_timed *timed);

#endif
