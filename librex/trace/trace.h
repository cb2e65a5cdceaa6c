/*
 * trace.h - the trace that REX_TRACE asks for: launches, data calls and phases.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRACE_H
#define REX_INTERNAL_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/settings.h"

struct rex_line;

/*
 * Call this before libomptarget is bound. The first call reads REX_TRACE, and starts the trace.
 * Later calls do nothing.
 */
void rex_trace_start(void);

extern enum rex_trace_to rex_tracing; /* read by rex_trace_on() */
static inline bool rex_trace_on(void)
{
    /*
     * Relaxed: a thread that reads an old value either does not trace its call, or calls
     * rex_trace_slice(), which reads the value again under the lock.
     */
    return __atomic_load_n(&rex_tracing, __ATOMIC_RELAXED) != REX_TRACE_NOWHERE;
}

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t rex_trace_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/*
 * A track of the timeline: a thread, a device or a queue. If two slices of a track overlap, one
 * slice contains the other. All members are zero at first, except `id` and `name` of a queue's
 * track.
 */
struct rex_track {
    uint32_t id; /* a thread's ID in the system, or a number above all such IDs */
    /* value of rex_forks() when the name was written, plus 1; 0: not written yet */
    unsigned process;
    const char *name; /* NULL: the name follows from the ID */
    bool is_taken;    /* this is a track of a device, and a call uses it; atomic */
};

/* Returns a new ID for a queue's track. */
uint32_t rex_track_queue(void);

/*
 * Takes the lowest free track of device NUMBER. Returns NULL if no track is free. The caller must
 * give the track back with rex_track_drop(), which ignores NULL.
 */
struct rex_track *rex_track_take(int64_t number);
void rex_track_drop(struct rex_track *track);

/* The part of the summary in which a slice is counted. */
enum rex_counted {
    REX_COUNTED_NOWHERE,
    REX_COUNTED_KERNEL,
    REX_COUNTED_TRANSFER,
    REX_COUNTED_PHASE
};

#define REX_TRACE_DRIVER "driver"
#define REX_TRACE_RUNTIME "libomptarget"

/*
 * A bar on a track of the timeline, from `begin` to `end`: a launch, a copy, a data call or a
 * phase.
 */
struct rex_slice {
    struct rex_track *track; /* NULL: the calling thread's track */
    const char *name, *category;
    enum rex_counted counted;
    uint64_t begin, end; /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t to, from;   /* bytes copied to and from the device */
    /*
     * If the slice is a kernel or a launch call outside queues, the backend of the launch:
     * REX_TRACE_DRIVER or REX_TRACE_RUNTIME. Otherwise NULL.
     */
    const char *by;
    const char *because; /* why the driver did not launch the kernel, or NULL */
    /*
     * if the slice is a launch call: the call returned before its kernel was done. If the slice is
     * a kernel: the launch of the kernel was deferred.
     */
    bool is_deferred;
    struct rex_track *on; /* track of a device that shows the slice, too; NULL: none */
    /* appends members to the JSON object `args` of the event; NULL: there are no members */
    void (*details)(struct rex_line *line, const void *context);
    const void *context;
};
/* Writes SLICE to the trace. Does nothing if no trace is on. Preserves errno. */
void rex_trace_slice(const struct rex_slice *slice);

/*
 * A phase is a part of the start or end of offloading. rex_phase_begin() returns the phase's start
 * time, or 0 if no trace is on. rex_phase_end() writes the phase NAME. OBJECT is the file or
 * library that the phase works on, or NULL.
 */
static inline uint64_t rex_phase_begin(void)
{
    return rex_trace_on() ? rex_trace_clock() : 0;
}
void rex_phase_took(uint64_t begin, const char *name, const char *object);
static inline void rex_phase_end(uint64_t begin, const char *name, const char *object)
{
    if (begin != 0)
        rex_phase_took(begin, name, object);
}

/*
 * Sets NAME_OF as the function that rex_trace_name() calls. NAME_OF returns the name of the kernel
 * whose host key is KEY, or NULL.
 */
void rex_trace_names(const char *(*name_of)(const void *key));
/* Returns the name of the kernel with KEY, or NULL if it is unknown. */
const char *rex_trace_name(const void *key);

/*
 * Nesting depth of this thread's traced or logged calls. Calls inside such a call are not traced
 * and not logged.
 */
extern __thread unsigned rex_trace_depth;

/*
 * Writes a slice for a copy of SIZE bytes. REX_COPIED_TO is a copy from the host to device NUMBER,
 * and REX_COPIED_FROM the reverse. REX_COPIED_BETWEEN is a copy from another device to device
 * NUMBER. BEGIN is the result of rex_phase_begin().
 */
enum rex_copied { REX_COPIED_TO, REX_COPIED_FROM, REX_COPIED_BETWEEN };
void rex_copy_took(uint64_t begin, enum rex_copied copied, uint64_t size, int number);

#endif
