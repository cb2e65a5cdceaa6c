/*
 * trace.h - what crossed the boundary, for REX_TRACE.
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

/* Reads REX_TRACE, the first time it is called: before libomptarget is bound. */
void rex_trace_start(void);

extern enum rex_trace_to rex_tracing; /* read by rex_trace_on() */
static inline bool rex_trace_on(void)
{
    /* Relaxed: a thread may see it a call late; what is written is decided under the lock. */
    return __atomic_load_n(&rex_tracing, __ATOMIC_RELAXED) != REX_TRACE_NOWHERE;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t rex_trace_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/*
 * A line of the timeline: a thread, a device, a queue. Slices in it lie beside or inside each
 * other. All is zero at first but the ID and the NAME of a queue's.
 */
struct rex_track {
    uint32_t id;      /* a thread's is that of the system; rex_track_queue() makes one */
    unsigned process; /* counts forks: in which one its name was written, from 1 */
    const char *name; /* NULL: told from the id */
    bool is_taken;    /* of a device's, atomic: a call is on it */
};

/* A new number for a queue's track. */
uint32_t rex_track_queue(void);

/*
 * A free track of device NUMBER, the first one where nobody else uses the device; to be dropped.
 * NULL: there is none. Dropping NULL does nothing.
 */
struct rex_track *rex_track_take(int64_t number);
void rex_track_drop(struct rex_track *track);

/* Where the summary counts a slice. */
enum rex_counted {
    REX_COUNTED_NOWHERE,
    REX_COUNTED_KERNEL,
    REX_COUNTED_TRANSFER,
    REX_COUNTED_PHASE
};

#define REX_TRACE_DRIVER "driver"
#define REX_TRACE_RUNTIME "libomptarget"

/* Something that took time. */
struct rex_slice {
    struct rex_track *track; /* NULL: the calling thread's */
    const char *name, *category;
    enum rex_counted counted;
    uint64_t begin, end;  /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t to, from;    /* bytes copied to and from the device */
    const char *by;       /* of a kernel, who launched it: one of the words below */
    const char *because;  /* why the driver did not, though it might have; NULL: no reason */
    bool is_deferred;     /* a call that returned before its kernel was done, or that kernel */
    struct rex_track *on; /* the device's, where the same is shown; NULL: none */
    /* writes members of a JSON object; NULL: none */
    void (*details)(struct rex_line *line, const void *context);
    const void *context;
};
void rex_trace_slice(const struct rex_slice *slice);

/*
 * A part of the start or end of offloading, NAME, which works on OBJECT or, NULL, on nothing that
 * has a name. Nothing happens where nothing is traced.
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

/* Calls have host keys. The room that knows the kernels' names hands down how to find them. */
void rex_trace_names(const char *(*name_of)(const void *key));
const char *rex_trace_name(const void *key); /* NULL: unknown */

/*
 * How deep this thread is in calls that are traced or logged already: what it calls there is
 * neither traced nor logged again.
 */
extern __thread unsigned rex_trace_depth;

/*
 * As rex_phase_end(), for SIZE bytes that were copied to or from device NUMBER, or to it from
 * another.
 */
enum rex_copied { REX_COPIED_TO, REX_COPIED_FROM, REX_COPIED_BETWEEN };
void rex_copy_took(uint64_t begin, enum rex_copied copied, uint64_t size, int number);

#endif
