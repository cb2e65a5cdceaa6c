/*
 * event.h - reads one line of a trace that librex wrote.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_EVENT_H
#define REX_REPORT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_ROWS 32 /* maximum rows of a map in a trace */

/* A row of memory in a map. */
struct event_row {
    unsigned number; /* counted from 0 */
    uint64_t begin, size;
    bool to, from, always, deletes, pinned;
};

enum event_kind {
    EVENT_PROCESS, /* name of the process */
    EVENT_TRACK,   /* name of a thread, a device or a queue */
    EVENT_LAUNCH,  /* a launch on a thread */
    EVENT_DATA,    /* a data call on a thread */
    EVENT_QUEUED,  /* a thread has put a command in a queue */
    EVENT_DONE,    /* a device or a queue has executed a launch or data call of a thread */
    EVENT_PHASE,   /* a part of the start or end of offloading */
    EVENT_KINDS
};

/* The kind of track of an event. */
enum event_track { TRACK_THREAD, TRACK_DEVICE, TRACK_QUEUE };

struct event {
    enum event_kind kind;
    enum event_track track;
    bool is_kernel;       /* for EVENT_DONE: a kernel, not a copy */
    const char *name;     /* name of the slice, the process or the track */
    const char *function; /* name of a function of libomptarget or of the driver; "" if unknown */
    /* reason why libomptarget, not the driver, made the launch; "" if the trace has no reason */
    const char *because;
    uint64_t process, id; /* numbers of the process and the track */
    uint64_t begin, took; /* nanoseconds */
    int64_t device;       /* -1: unknown */
    int64_t result;
    /*
     * for EVENT_LAUNCH: the call returned before its kernel was done; for EVENT_DONE: the launch of
     * the kernel was deferred
     */
    bool deferred;
    bool awaited; /* the call waited for its kernel; the trace has the kernel as another event */
    uint64_t to, from; /* bytes that the rows ask to copy to the device, and from the device */
    size_t rows;
    struct event_row row[EVENT_ROWS];
};

/*
 * Reads the event in LINE. Changes LINE, and stores pointers into LINE in EVENT. Returns false if
 * LINE is not an event of librex.
 */
bool event_read(struct event *event, char *line);

#endif
