/*
 * thread.h - what librex keeps for each thread.
 *
 * Objects declared __thread lie in the static TLS of a process, which has little room for a library
 * that dlopen() brings. All of them together are at most 64 bytes; tests/scripts/linking.sh holds
 * that. Everything else is a part: memory that a thread gets when it first needs it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_THREAD_H
#define REX_INTERNAL_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts, each of one file, which alone knows its type. */
enum rex_part {
    REX_PART_FAILURE,  /* base/error.c */
    REX_PART_LINES,    /* base/log.c */
    REX_PART_TRACK,    /* trace/trace.c */
    REX_PART_WHY,      /* cuda/driver.c */
    REX_PART_ORDINARY, /* cuda/pinned.c */
    REX_PART_CALL,     /* omp/present.c */
    REX_PARTS
};

/* All is zero at first. */
struct rex_thread {
    void **part;             /* REX_PARTS of them; NULL: no memory yet */
    struct rex_thread *next; /* in the list of all threads that have parts */
    uint32_t in_flight;      /* its calls of libomptarget: omp/flight.h; atomic */
    uint16_t holds;          /* calls of rex_log_hold() that have not been undone */
    uint8_t ends;            /* how often the end of this thread has freed its parts */
    bool has_no_room;        /* the last error came when there was no memory for its text */
    bool in_function;        /* of the program, for the log */
    bool has_held_lines;     /* of the log */
    uint8_t shelters;        /* calls of rex_shelter_begin() that have not been undone */
    int8_t cancel_state;     /* as it was before the first of them */
};
extern __thread struct rex_thread rex_thread;
/*
 * This thread's PART of SIZE bytes, all zero when it is new. NULL where there is no memory for it,
 * or the thread is in its last destructors; no error is set.
 */
void *rex_part_new(enum rex_part part, size_t size);
static inline void *rex_part(enum rex_part part, size_t size)
{
    void **all = rex_thread.part;
    return all != NULL && all[part] != NULL ? all[part] : rex_part_new(part, size);
}

/* The same, or NULL where this thread has none yet. */
static inline void *rex_part_if_any(enum rex_part part)
{
    return rex_thread.part != NULL ? rex_thread.part[part] : NULL;
}

/*
 * Whether this thread has parts. Then it is in the list of threads, until its end frees the parts
 * and sets `in_flight` to 0. False if there is no memory for them; it may be tried again.
 */
bool rex_thread_list(void);
static inline bool rex_thread_is_listed(void)
{
    return rex_thread.part != NULL || rex_thread_list();
}

/*
 * Whether another thread has calls of libomptarget in flight. Call it under the lock of the list,
 * which a fork takes last: no thread ends, and none joins the list, meanwhile.
 */
bool rex_threads_are_in_flight(void);
void rex_threads_lock(void);
void rex_threads_unlock(void);

/* Whether this thread is in its last destructors, after which its end is not seen. */
#define REX_THREAD_IS_OVER "the thread is ending: do this before its last destructors"
bool rex_thread_is_over(void);

/*
 * A thread that another one has cancelled ends in its next read() or write(), and the like. Between
 * these two, which nest, it does not: around all that other threads would wait for.
 */
void rex_cancel_disable(void);
void rex_cancel_restore(void);
static inline void rex_shelter_begin(void)
{
    if (rex_thread.shelters++ == 0)
        rex_cancel_disable();
}
static inline void rex_shelter_end(void)
{
    if (--rex_thread.shelters == 0)
        rex_cancel_restore();
}

#endif
