/*
 * marks.h - events of a stream of numbered launches: a wait for one launch does not wait for later
 * ones.
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
    uint64_t launch; /* 0: it was never recorded */
    unsigned users;  /* threads that wait for it */
};

/* Returns an event after launch NEWEST of STREAM, or NULL: threads wait for all, or it failed. */
struct rex_mark *rex_mark_make(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest);

/* Returns the first event after LAUNCH. Makes one after NEWEST if there is no such event yet. */
struct rex_mark *rex_mark_find(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest,
                               uint64_t launch);

/*
 * Waits about so many milliseconds at most. Returns the driver's result. MARK is in use; no lock is
 * needed.
 */
int rex_mark_poll(const struct rex_mark *mark, int milliseconds);

/* Destroys the events. Returns false and destroys nothing if a thread waits for one. */
bool rex_marks_end(struct rex_mark mark[REX_MARKS]);

#endif
