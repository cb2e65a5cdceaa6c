/*
 * process.h - the process: its shared objects, its place in a job, its processors, its threads and
 * its forks.
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
 * Returns false in a program linked with -static or -static-pie. In such a program dlopen() loads a
 * second C library, and the process crashes in that library.
 */
bool rex_can_open_libraries(void);

/*
 * If ADDRESS is in the main program, returns true and writes "" to PATH. If ADDRESS is in a shared
 * object, returns false and writes the object's path to PATH.
 */
bool rex_in_program(const void *address, char path[PATH_MAX]);

/*
 * Keeps dlclose() from unloading the shared object that has ADDRESS, and writes the object's path
 * to PATH. Returns false on failure.
 */
bool rex_keep_loaded(const void *address, char path[PATH_MAX]);

/*
 * Returns the number in TEXT. Returns -1 if TEXT is NULL or not a decimal number from 0 to INT_MAX.
 */
int rex_number_in_text(const char *text);

/*
 * Returns the number of the device that this process should use. The first of these rules that
 * applies gives the number:
 * - If OMP_DEFAULT_DEVICE is a number: that number, even if it is not below COUNT.
 * - If COUNT is above 0, and a launcher (MPI, Slurm, Flux) gives a local rank: that rank modulo
 *   COUNT.
 * - In all other cases: 0.
 */
int rex_launcher_device(int count);

/*
 * Returns the number of processors for this process, at least 1. The job's processes on this
 * machine share the processors that the control groups allow. The process gets at most the
 * processors to which it was bound when librex was loaded. ROOT is "", or, in tests, a folder with
 * /proc and /sys.
 */
int rex_processors(const char *root);

/* Returns the result of rex_processors(""), which only the first call computes. */
int rex_processors_known(void);

/*
 * Binds the calling thread to all processors to which the process was bound when librex was loaded.
 */
void rex_processors_unbind(void);

/* Marks a CONDITION that is rarely true. Code on the path of a launch uses this macro. */
#define REX_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- threads --------------------------------------------------------------------------------- */

/*
 * Starts a thread that blocks all signals except faults, so that signals reach the program's
 * threads. Returns false if the thread cannot be started.
 */
bool rex_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/*
 * Objects declared __thread lie in the static TLS of a process, which has little room for a library
 * that dlopen() loads. Such objects of librex together have at most 64 bytes;
 * tests/scripts/linking.sh checks that. All other data of a thread is in parts, which are allocated
 * when the thread first needs them.
 */

/* The parts. Each part belongs to one file, and only that file knows the part's type. */
enum rex_part {
    REX_PART_FAILURE,  /* base/error.c */
    REX_PART_LINES,    /* base/log.c */
    REX_PART_TRACK,    /* trace/trace.c */
    REX_PART_WHY,      /* cuda/driver.c */
    REX_PART_PAGEABLE, /* cuda/pinned.c */
    REX_PART_CALL,     /* present/presentcalls.c */
    REX_PARTS
};

/* A thread's calls to libomptarget. Both numbers are atomic. */
struct rex_calls {
    uint32_t inside; /* calls in flight (omp/gate.h) */
    uint32_t paused; /* calls of `inside` that wait for other calls (omp/gate.h) */
};

/*
 * A thread in the list of threads. This struct is not in the thread's TLS, because the struct may
 * stay in the list after the thread has ended. Example: if the thread first uses librex in its last
 * destructors, free_parts() does not run.
 */
struct rex_listed {
    struct rex_calls calls;
    struct rex_listed *next;
    void *part[REX_PARTS];
};

/* The data of the calling thread. All but `calls` is zero at first. */
struct rex_thread {
    struct rex_listed *listed; /* NULL: the thread is not in the list */
    struct rex_calls *calls;   /* those of `listed`, or `own`, or rex_no_calls */
    struct rex_calls own;      /* the calls of a thread that cannot be listed */
    uint16_t holds;            /* nesting depth of rex_log_hold() */
    uint8_t ends;              /* calls of the destructor, which frees the parts */
    bool has_no_room;          /* memory for the last error was short */
    bool in_function;          /* the thread is in the program's log function */
    bool has_held_lines;       /* log lines are kept until rex_log_resume() */
    uint8_t shelters;          /* nesting depth of rex_shelter_begin() */
    uint8_t loads;             /* nesting depth of rex_load_lock() */
    uint8_t outputs;           /* nesting depth of rex_output_lock() */
    int cancel_state;          /* cancellation state saved by the outermost rex_shelter_begin() */
};
extern __thread struct rex_thread rex_thread;
/*
 * Returns this thread's PART. The thread's first call for PART allocates SIZE bytes, all zero.
 * Returns NULL without an error if there is no memory or the thread is over (rex_thread_is_over()).
 */
void *rex_part_new(enum rex_part part, size_t size);
static inline void *rex_part(enum rex_part part, size_t size)
{
    struct rex_listed *own = rex_thread.listed;
    return own != NULL && own->part[part] != NULL ? own->part[part] : rex_part_new(part, size);
}

/* Returns this thread's PART, or NULL if it has not been allocated. */
static inline void *rex_part_if_any(enum rex_part part)
{
    return rex_thread.listed != NULL ? rex_thread.listed->part[part] : NULL;
}

/*
 * Adds this thread to the list of threads, without parts. Call this only if the thread is not in
 * the list. When the thread ends, free_parts() frees the parts and removes the thread from the
 * list. Returns false if there is no memory or no key, or if the thread is over; a later call may
 * succeed. After this call, even if it fails, the caller may change the numbers in `calls`.
 */
bool rex_thread_list(void);

/*
 * Returns true if another thread has calls to libomptarget in flight. If PAUSED_TOO is false,
 * ignores calls that wait for other calls. Call this with rex_threads_lock() held, so that no
 * thread joins or leaves the list. A fork takes the lock of the list after all other locks.
 */
bool rex_threads_are_inside(bool paused_too);
void rex_threads_lock(void);
void rex_threads_unlock(void);

/*
 * Returns true if this thread is over: its destructors run for the last time, and free_parts() is
 * not called again.
 */
#define REX_THREAD_IS_OVER \
    "the thread is ending: use librex before the thread's last destructors run"
static inline bool rex_thread_is_over(void)
{
    return rex_thread.ends >= PTHREAD_DESTRUCTOR_ITERATIONS;
}

/*
 * A cancelled thread ends at its next cancellation point, such as read() or write(). Between
 * rex_shelter_begin() and rex_shelter_end(), which may nest, the thread does not end. Code that
 * holds a lock is between these two calls. If the thread ended with the lock held, other threads
 * would wait for the lock for ever.
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
 * A file with a lock, or with other state that a child discards, uses one of three macros once. The
 * macro registers what a fork does to this state, and allocates nothing. The functions have no
 * parameters.
 *
 * REX_FORK_TAKEN(rank, in_child) is for a `lock` that librex holds for microseconds, and under
 * which only librex's own code runs. Only the lock of log.c is held longer, during writes to a
 * file. The lock is taken before a fork. After the fork the parent and the child unlock the lock.
 * So the child finds the data under the lock complete. If IN_CHILD is not NULL, the child calls
 * IN_CHILD before it unlocks the lock.
 *
 * REX_FORK_RENEWED(rank, in_child) is for a lock under which librex calls the driver, libomptarget
 * or the loader. Such a call may take long, and may fork: a driver starts nvidia-modprobe if a
 * device file is missing. No fork handler waits for the lock. If a handler waited, two forks could
 * wait for each other. glibc before 2.36 runs the handlers of one fork at a time. So the fork
 * inside the call would wait for a handler that waits for the lock. IN_CHILD reinitialises the
 * lock, and discards data that may be half-written.
 *
 * REX_FORK_WATCHED(rank, before, after, in_child) is for other state. A fork calls BEFORE when all
 * locks are taken. Before the locks are unlocked, the parent calls AFTER, and the child calls
 * IN_CHILD. The rank is higher than the rank of any lock.
 *
 * A thread takes a lock only if all locks that it holds have lower ranks. Each rank is used once.
 * All renewed locks have lower ranks than all taken locks. A thread that holds a renewed lock may
 * fork, and the fork waits for all taken locks. So a thread that holds a taken lock must not wait
 * for a renewed lock. tests/scripts/locks.sh compares the ranks.
 */
#define REX_FORK_TAKEN(rank, in_child) REX_FORK_HANDLER(rank, &lock, NULL, NULL, in_child)
#define REX_FORK_RENEWED(rank, in_child) REX_FORK_HANDLER(rank, NULL, NULL, NULL, in_child)
#define REX_FORK_WATCHED(rank, before, after, in_child) \
    REX_FORK_HANDLER(rank, NULL, before, after, in_child)

struct rex_fork_handler {
    pthread_mutex_t *taken;               /* NULL: no lock, or the child renews it */
    void (*before)(void), (*after)(void); /* NULL: nothing is called */
    void (*in_child)(void);               /* NULL: nothing is called */
};

#define REX_FORK_RANKS 100

/*
 * Sets the handler of RANK, and stores the pointer HANDLER. Only the constructors of
 * REX_FORK_HANDLER() call this function. These constructors run before watch_process(), which has
 * no priority and registers the fork handlers. So the handlers never change during a fork.
 */
void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler);

#define REX_FORK_HANDLER(rank, taken, before, after, in_child)                           \
    __attribute__((constructor(1000))) static void register_fork_handler(void)           \
    {                                                                                    \
        static const struct rex_fork_handler fork_handler = {(taken), (before), (after), \
                                                             (in_child)};                \
        rex_fork_register((rank), &fork_handler);                                        \
    }                                                                                    \
    _Static_assert((rank) < REX_FORK_RANKS, "the rank is too high")

static inline void rex_fork_renew(pthread_mutex_t *mutex)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/*
 * Registers the fork handlers if they are not registered yet. Returns false if memory is short; the
 * next call tries again. Without handlers a child could wait for ever for a lock that another
 * thread held. Only one thread at a time may call this function.
 */
bool rex_fork_is_watched(void);

/* Number of forks between the process that loaded librex and this process. */
extern unsigned rex_fork_count;
static inline unsigned rex_forks(void)
{
    return rex_fork_count;
}

/* ---- functions without -fstack-protector ----------------------------------------------------- */

/*
 * The stack guard costs six instructions in each function that takes the address of a local object.
 * Only functions on the path of every launch have no stack guard. Their local objects are structs
 * of librex. These functions write whole members, and index no array by a caller's value.
 */
#if __has_attribute(no_stack_protector)
#define REX_NO_STACK_GUARD __attribute__((no_stack_protector))
#else
#define REX_NO_STACK_GUARD
#endif

#endif
