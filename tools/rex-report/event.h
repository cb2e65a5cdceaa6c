/*
 * event.h - one line of a trace that librex wrote.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_EVENT_H
#define REX_REPORT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_ROWS 32 /* of a map, that the trace has */

/* A row of a map that names memory. */
struct event_row {
    unsigned number; /* from 0 */
    uint64_t begin, size;
    bool to, from, always, deletes, pinned;
};

enum event_kind {
    EVENT_PROCESS, /* names the process */
    EVENT_TRACK,   /* names a thread, a device, a queue */
    EVENT_LAUNCH,  /* on a thread */
    EVENT_DATA,    /* likewise */
    EVENT_QUEUED,  /* something was put in a queue, by a thread */
    EVENT_DONE,    /* a device or a queue has done it: again what a thread asked for */
    EVENT_PHASE,   /* a part of the start or end of offloading */
    EVENT_KINDS
};

/* Which sort of track it is on. */
enum event_track { TRACK_THREAD, TRACK_DEVICE, TRACK_QUEUE };

struct event {
    enum event_kind kind;
    enum event_track track;
    bool is_kernel;       /* of EVENT_DONE: not a copy */
    const char *name;     /* of the slice, the process or the track */
    const char *function; /* of libomptarget or the driver, "" if it is not said */
    const char *because;  /* why libomptarget launched and not the driver, "" if nothing is said */
    uint64_t process, id; /* of the track */
    uint64_t begin, took; /* nanoseconds */
    int64_t device;       /* -1: not said */
    int64_t result;
    bool deferred;     /* the call returned before its kernel was done, or this is that kernel */
    bool awaited;      /* its kernel is elsewhere, but the call waited for it */
    uint64_t to, from; /* bytes that rows ask for */
    size_t rows;
    struct event_row row[EVENT_ROWS];
};

/* Read LINE, which is changed and has to outlive the event; false: it is no event of librex's. */
bool event_read(struct event *event, char *line);

#endif
