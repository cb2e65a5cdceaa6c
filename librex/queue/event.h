/*
 * event.h - an event, from the inside.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_EVENT_H
#define REX_INTERNAL_EVENT_H

#include <pthread.h>
#include <time.h>

#include "launch/pack.h"
#include "rex/queue.h"

enum rex_event_state { REX_EVENT_NEW, REX_EVENT_TIMED, REX_EVENT_DRIVER, REX_EVENT_GRAPH };

/*
 * The driver's event for one context. It changes no more and lasts as long as its event: threads
 * may be waiting for it.
 */
struct rex_driver_event {
    struct rex_driver_event *next;
    void *handle;  /* the driver's event, */
    void *context; /* made in this context */
    int ordinal;   /* of this GPU, */
    int number;    /* libomptarget's device */
    unsigned forks;
};

struct rex_event {
    pthread_mutex_t lock; /* of all below: another thread may record the event anew at any time */
    enum rex_event_state state;
    struct timespec at;                    /* TIMED: on a device that does everything at once */
    const struct rex_driver_event *driver; /* DRIVER: where it was recorded last, */
    struct rex_driver_event *drivers;      /* one of these */
    uint64_t graph;                        /* GRAPH: number of the graph, */
    uint32_t point;                        /* and of the event in it */
};

/* Record in, or make wait, a stream of the driver. The context is current. 0 or an error. */
int rex_event_submit_record(struct rex_event *event, struct rex_stream_gpu *gpu, void *stream);
int rex_event_submit_wait(struct rex_event *event, void *stream);

/*
 * On a device that does everything at once an event is a time, and a queue has nothing to wait with
 * but the calling thread. 0 or an error.
 */
void rex_event_record_time(struct rex_event *event);
int rex_event_wait_at_once(struct rex_event *event);

#endif
