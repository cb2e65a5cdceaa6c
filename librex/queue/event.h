/*
 * event.h - the struct of an event.
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
 * The driver's event for one context. It never changes and lasts as long as its event, because
 * threads may be waiting for it.
 */
struct rex_driver_event {
    struct rex_driver_event *next;
    void *handle;  /* the driver's event */
    void *context; /* the context of `handle` */
    int ordinal;   /* the driver's number of the GPU */
    int number;    /* libomptarget's number of the device */
    unsigned forks;
};

struct rex_event {
    pthread_mutex_t lock; /* of all below: another thread may record the event at any time */
    enum rex_event_state state;
    struct timespec at;                    /* TIMED: on a device that does all at once */
    const struct rex_driver_event *driver; /* DRIVER: the last recorded one of: */
    struct rex_driver_event *drivers;      /* the driver's events, one for each context */
    uint64_t graph;                        /* GRAPH: number of the graph */
    uint32_t point;                        /* GRAPH: number of the event in it */
};

/*
 * Record the event in STREAM, or make STREAM wait. The context is current. Returns 0 or an error.
 */
int rex_event_submit_record(struct rex_event *event, struct rex_stream_gpu *gpu, void *stream);
int rex_event_submit_wait(struct rex_event *event, void *stream);

/*
 * On a device that does all commands at once an event is a time. A wait of a queue is a wait of the
 * calling thread there. Returns 0 or an error.
 */
void rex_event_record_time(struct rex_event *event);
int rex_event_wait_at_once(struct rex_event *event);

#endif
