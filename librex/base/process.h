/*
 * process.h - what the process is: how it was linked, what it may open, its place in a job, its
 * processors, its threads and its forks.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PROCESS_H
#define REX_INTERNAL_PROCESS_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

/*
 * False in a program that was linked with -static or -static-pie. A library that dlopen() opens
 * there brings a second C library with it, and the process crashes in that one.
 */
bool rex_can_open_libraries(void);

/* Whether ADDRESS is in the main program. PATH gets the file of its binary, "" for the program. */
bool rex_in_program(const void *address, char path[PATH_MAX]);

/* dlclose() unloads the shared object of ADDRESS, at PATH, no more. False where that failed. */
bool rex_keep_loaded(const void *address, char path[PATH_MAX]);

/* TEXT, NULL for none, as a number that is not negative, and nothing but it; else -1. */
int rex_number_in_text(const char *text);

/*
 * The device, of COUNT, that this process uses: OMP_DEFAULT_DEVICE, whatever COUNT is. Otherwise
 * the process's number on this machine, which its launcher (of MPI, Slurm, Flux) tells, modulo
 * COUNT; 0 if COUNT is 0.
 */
int rex_launcher_device(int count);

/*
 * The number of processors for this process, at least 1: the processors to which it was bound when
 * librex was loaded, reduced to the limits of its control groups. If a launcher of MPI has started
 * several processes on this machine, each has its share. Files are looked for under ROOT: "" but
 * for tests.
 */
int rex_processors(const char *root);

/* The same of the real files, which are read once. */
int rex_processors_known(void);

/*
 * The calling thread may run on all processors that the process was bound to when librex was
 * loaded.
 */
void rex_processors_unbind(void);

/* For the paths of a launch that are rare. */
#define REX_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- threads --------------------------------------------------------------------------------- */

/*
 * Start a thread in which all signals but faults are blocked: they reach the program's threads.
 * False: there is none.
 */
bool rex_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/*
 * Objects declared __thread lie in the static TLS of a process, which has little room for a library
 * that dlopen() brings. All of them together are at most 64 bytes; tests/scripts/linking.sh holds
 * that. Everything else is a part: memory that a thread gets when it first needs it.
 */

/* The parts, each of one file, which alone knows its type. */
enum rex_part {
    REX_PART_FAILURE,  /* base/error.c */
    REX_PART_LINES,    /* base/log.c */
    REX_PART_TRACK,    /* trace/trace.c */
    REX_PART_WHY,      /* cuda/driver.c */
    REX_PART_PAGEABLE, /* cuda/pinned.c */
    REX_PART_CALL,     /* present/presentcalls.c */
    REX_PARTS
};

/* All is zero at first. */
struct rex_thread {
    void **part;             /* REX_PARTS of them; NULL: no memory yet */
    struct rex_thread *next; /* in the list of all threads that have parts */
    uint32_t inside;         /* its calls of libomptarget: omp/gate.h; atomic */
    uint32_t paused;         /* those that wait for other calls; atomic */
    uint16_t holds;          /* calls of rex_log_hold() that have not been undone */
    uint8_t ends;            /* how often the end of this thread has freed its parts */
    bool has_no_room;        /* the last error came when there was no memory for its text */
    bool in_function;        /* of the program, for the log */
    bool has_held_lines;     /* of the log */
    uint8_t shelters;        /* calls of rex_shelter_begin() that have not been undone */
    uint8_t loads;           /* of rex_load_lock(), */
    uint8_t outputs;         /* and of rex_output_lock() */
    int cancel_state;        /* as it was before the first of them */
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
 * and sets `inside` to 0. False if there is no memory for them; it may be tried again.
 */
bool rex_thread_list(void);

/*
 * Whether another thread has calls of libomptarget in flight. PAUSED_TOO: or calls that wait. Call
 * it under the lock of the list, which a fork takes last: no thread ends, and none joins the list,
 * meanwhile.
 */
bool rex_threads_are_inside(bool paused_too);
void rex_threads_lock(void);
void rex_threads_unlock(void);

/* Whether this thread is in its last destructors, after which its end is not seen. */
#define REX_THREAD_IS_OVER "the thread is ending: do this before its last destructors"
static inline bool rex_thread_is_over(void)
{
    return rex_thread.ends >= PTHREAD_DESTRUCTOR_ITERATIONS;
}

/*
 * A thread that another one has cancelled ends in its next read() or write(), and the like. Between
 * these two, which nest, it does not: around all that other threads would wait for.
 */
static inline void rex_shelter_begin(void)
{
    if (rex_thread.shelters++ == 0)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &rex_thread.cancel_state);
}
static inline void rex_shelter_end(void)
{
    REX_ASSERT(rex_thread.shelters > 0);
    if (--rex_thread.shelters == 0)
        pthread_setcancelstate(rex_thread.cancel_state, NULL);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/*
 * A file with a lock, or with other state that a child forgets, says once, with one of these
 * macros, what a fork does to it. None allocates. The functions have no parameters.
 *
 * REX_FORK_TAKEN(rank, in_child): only librex runs under `lock`, for microseconds; log.c alone
 * writes to a file under its lock, and a fork waits for that. The lock is taken before a fork and
 * given back after it, so that the child finds it free, and its data whole. IN_CHILD is called in
 * the child just before; NULL: nothing else is done.
 *
 * REX_FORK_RENEWED(rank, in_child): the driver, libomptarget or the loader is called under `lock`.
 * That may take long, and may itself wait for a fork: a driver starts nvidia-modprobe if a device
 * file is missing, and glibc before 2.36 runs the handlers of one fork at a time. So no handler
 * waits for the lock. IN_CHILD makes it anew, and forgets its data unless they are whole at any
 * time.
 *
 * REX_FORK_WATCHED(rank, before, after, in_child): BEFORE is called when all locks have been taken,
 * and AFTER in the parent before they are given back. IN_CHILD is called in the child before that.
 * The rank is higher than that of any lock.
 *
 * A lock is taken only under locks of lower ranks. Each rank is used once. All renewed locks have
 * lower ranks than all taken ones: a fork waits for a taken lock, so that its holder must not wait
 * for a lock that is held for long. tests/scripts/locks.sh compares the ranks.
 */
#define REX_FORK_TAKEN(rank, in_child) REX_FORK_HANDLER(rank, &lock, NULL, NULL, in_child)
#define REX_FORK_RENEWED(rank, in_child) REX_FORK_HANDLER(rank, NULL, NULL, NULL, in_child)
#define REX_FORK_WATCHED(rank, before, after, in_child) \
    REX_FORK_HANDLER(rank, NULL, before, after, in_child)

struct rex_fork_handler {
    pthread_mutex_t *taken;               /* NULL: no lock, or a renewed one */
    void (*before)(void), (*after)(void); /* NULL: nothing else */
    void (*in_child)(void);               /* NULL: nothing else */
};

#define REX_FORK_RANKS 100

/*
 * HANDLER, which stays, is used from now on. Only for the constructors below: all of them run
 * before watch_process(), which has no priority, so that no fork sees the handlers change.
 */
void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler);

#define REX_FORK_HANDLER(rank, taken, before, after, in_child)                           \
    __attribute__((constructor(1000))) static void register_fork_handler(void)           \
    {                                                                                    \
        static const struct rex_fork_handler fork_handler = {(taken), (before), (after), \
                                                             (in_child)};                \
        rex_fork_register((rank), &fork_handler);                                        \
    }                                                                                    \
    _Static_assert((rank) < REX_FORK_RANKS, "a rank that there is")

static inline void rex_fork_renew(pthread_mutex_t *mutex)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/*
 * Whether forks are seen. Tried again where it failed, as it may for want of memory: without it a
 * child would wait for ever for a lock that another thread held. For one thread at a time.
 */
bool rex_fork_is_watched(void);

/* Forks that led to this process, since librex was loaded. */
extern unsigned rex_fork_count;
static inline unsigned rex_forks(void)
{
    return rex_fork_count;
}

/* ---- functions that -fstack-protector leaves as they are ------------------------------------- */

/*
 * The guard takes six instructions of each function that has the address of a local object. The few
 * functions that every launch goes through do without: what they keep on the stack are structs of
 * the library's own, of which they write whole members, and none is indexed by what a caller gave.
 */
#if __has_attribute(no_stack_protector)
#define REX_NO_STACK_GUARD __attribute__((no_stack_protector))
#else
#define REX_NO_STACK_GUARD
#endif

#endif
