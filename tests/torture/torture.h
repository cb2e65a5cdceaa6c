/* torture.h - what the files of the program share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_H
#define REX_TORTURE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"

/*
 * X(name, kind, errno values...): what librex calls of the C library and what can fail. glob() fails with values of its own, of which
 * GLOB_NOSPACE stands for ENOMEM.
 */
#define TORTURE_LIBC(X)                                      \
    X(malloc, MEMORY, ENOMEM)                                \
    X(calloc, MEMORY, ENOMEM)                                \
    X(realloc, MEMORY, ENOMEM)                               \
    X(reallocarray, MEMORY, ENOMEM)                          \
    X(aligned_alloc, MEMORY, ENOMEM)                         \
    X(strdup, MEMORY, ENOMEM)                                \
    X(open, FILES, EMFILE, EACCES, ENOENT, EINTR, ENOMEM)    \
    X(close, FILES, EIO)                                     \
    X(read, FILES, EIO, EINTR, CODE_SHORT, CODE_END)         \
    X(write, FILES, ENOSPC, EIO, EINTR, EPIPE, CODE_SHORT)   \
    X(fstat, FILES, EIO, ENOMEM)                             \
    X(stat, FILES, EACCES, ENOENT, ENOMEM)                   \
    X(fcntl, FILES, EMFILE, EINVAL)                          \
    X(mkostemp, FILES, EROFS, EMFILE)                        \
    X(mmap, FILES, EPERM, ENOMEM)                            \
    X(ftruncate, FILES, EIO, EINTR)                          \
    X(flock, FILES, EINTR, ENOLCK)                           \
    X(readlink, FILES, EACCES, ENOENT)                       \
    X(realpath, FILES, ENOMEM, EACCES)                       \
    X(getcwd, FILES, ENOENT)                                 \
    X(glob, FILES, ENOMEM)                                   \
    X(fopen, FILES, EMFILE, ENOENT, ENOMEM)                  \
    X(fgets, FILES, EIO)                                     \
    X(dlopen, LOADER, EMFILE, ENOENT)                        \
    X(dlsym, LOADER, ENOENT)                                 \
    X(dlinfo, LOADER, ENOMEM)                                \
    X(dladdr, LOADER, ENOENT)                                \
    X(dladdr1, LOADER, ENOENT)                               \
    X(dlclose, LOADER, EINVAL)                               \
    X(pthread_mutex_init, THREADS, ENOMEM, EAGAIN)           \
    X(pthread_key_create, THREADS, EAGAIN)                   \
    X(pthread_setspecific, THREADS, ENOMEM)                  \
    X(pthread_atfork, THREADS, ENOMEM)                       \
    X(pthread_getname_np, THREADS, ERANGE)                   \
    X(atexit, THREADS, ENOMEM)                               \
    X(pthread_create, THREADS, EAGAIN)                       \
    X(sched_getaffinity, THREADS, EINVAL)                    \
    X(sched_setaffinity, THREADS, EINVAL)                    \
    X(sysconf, THREADS, EINVAL)                              \
    X(getrlimit, THREADS, EINVAL)

/* X(name) of what can fail, V(name) of what has no way to say so. */
#define TORTURE_RUNTIME(X, V)         \
    X(omp_get_num_devices)            \
    X(omp_target_is_present)          \
    X(omp_target_disassociate_ptr)    \
    X(omp_get_mapped_ptr)             \
    X(omp_target_alloc)               \
    V(omp_target_free)                \
    X(omp_target_memcpy)              \
    X(__tgt_target_kernel)            \
    X(__tgt_target_kernel_nowait)     \
    X(__tgt_target_teams_mapper)      \
    V(__tgt_register_lib)             \
    V(__tgt_unregister_lib)           \
    V(__tgt_target_data_begin_mapper) \
    V(__tgt_target_data_end_mapper)   \
    V(__tgt_target_data_update_mapper)

/* ---- what a run tells of itself --------------------------------------------------------------------------------------------------- */

/* Memory that the run shares with the process that waits for it: it stays when the run crashes. */
struct report {
    struct plan plan;
    size_t fired; /* where in the program the plan's call was made; 0: it was not */
    bool ended;
    int counts[CALLS_MAX]; /* how often each call was made */
    int made_count;
    struct made {
        unsigned short call;
        unsigned place; /* as of torture_offset() */
    } made[MADE_MAX]; /* the calls in their order */
    bool has_failed;       /* a step */
    int done[CALLS_MAX];   /* how often each of the driver's and libomptarget's calls went well, the first time */
    int registrations;     /* each leaves something: libomptarget may look at it for ever */
    int held_count;
    struct held {
        char what[128];
        int count;
    } held[256];
    size_t problems_length;
    char problems[8192]; /* lines */
};
extern struct report *torture_report; /* NULL: nothing is told */

/* The descriptor of a report's memory, for a program that follows it from its constructors on. */
#define REPORT_VARIABLE "TORTURE_REPORT"

/* Something is wrong: librex did what it should not. */
#define PROBLEM(...) torture_tell_problem(__VA_ARGS__)
void torture_tell_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where in the program SITE is: a number for addr2line. */
size_t torture_offset(const void *site);

/* ---- what librex holds ------------------------------------------------------------------------------------------------------------ */

/* Memory from CALL at SITE; RESULT is what goes back to librex. */
void *torture_hold(void *memory, int call, const void *site);
void torture_let_go(void *memory);
extern int torture_holds; /* so many pieces of memory */
/* Whether an allocation of TOLD bytes has failed, or, ROUGHLY, a part of them; true, too, where too many have failed to be told. */
bool torture_lacked(size_t told, bool roughly);
/* One more or less of WHAT, as "stream" of the driver's. */
void torture_balance(const char *what, int change);
void torture_tell_held(void);

/* ---- calls that were made and went well ------------------------------------------------------------------------------------------- */

int torture_done(const char *name);
void torture_tell_done(void);
extern const void *torture_registered; /* the descriptor that libomptarget got last */

/* Librex's dlsym() gives it these: the function that stands before NAME, REAL; REAL where there is none. And back. */
void *torture_before(const char *name, void *real);
const void *torture_behind(const void *address);

/* ---- scenarios -------------------------------------------------------------------------------------------------------------------- */

struct scenario {
    const char *name;
    const char *devices;   /* where it runs: words of "host fake gpu " */
    void (*prepare)(void); /* NULL: nothing; neither counted nor failing */
    const char *image;     /* NULL: the one for the device */
    void (*body)(void);
};
extern const struct scenario torture_scenarios[];
extern const size_t torture_scenario_count;

/* Runs it in this process. */
void torture_play(const struct scenario *scenario);

#endif
