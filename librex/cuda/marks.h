/*
 * marks.h - events in a stream of numbered launches, so that a thread can wait for one launch and
 * not for later launches.
 *
 * The caller holds the stream's lock, and the stream's context is current.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MARKS_H
#define REX_INTERNAL_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define REX_MARKS 16

/* An event that was recorded after a launch. */
struct rex_mark {
    void *event;
    uint64_t launch; /* number of the launch before the event; 0: no event is recorded */
    unsigned users;  /* number of threads that wait for the event */
};

/*
 * Returns a mark whose event was recorded after launch NEWEST, the newest launch of STREAM. Returns
 * NULL if threads wait for all marks, or if the driver failed.
 */
struct rex_mark *rex_mark_make(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest);

/*
 * Returns the first mark whose event was recorded after launch number LAUNCH. If there is no such
 * mark yet, returns the result of rex_mark_make().
 */
struct rex_mark *rex_mark_find(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest,
                               uint64_t launch);

/*
 * Waits for the event of MARK for at most about MILLISECONDS. Returns the driver's result, which is
 * REX_CUDA_NOT_READY if the time ran out. Before the call, add 1 to `users` of MARK. No lock is
 * needed.
 */
int rex_mark_poll(const struct rex_mark *mark, int milliseconds);

/* Destroys the events. Returns false and destroys nothing if a thread waits for an event. */
bool rex_marks_end(struct rex_mark mark[REX_MARKS]);

#endif
