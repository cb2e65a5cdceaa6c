/*
 * rex/openmp.h - the number of CPU threads for a loop of a kernel. rex/kernel.h includes it in a
 * host image that is compiled with OpenMP.
 *
 * In a short loop, starting threads and waiting for them takes longer than the loop itself. So each
 * loop of a source stores its measured time for one index. A run whose expected time on one thread
 * is below REX_DETAIL_WORTH stays on the calling thread.
 *
 * A longer run has as many threads as OpenMP would start, but at most rex_detail_processors.
 * OpenMP's number depends on the process's processor mask and OMP_NUM_THREADS. Until a loop has run
 * twice on one thread, a run needs ten times REX_DETAIL_WORTH to have several threads. Before the
 * image is loaded, librex writes a number to rex_detail_processors: the number of processors that
 * the mask, the control groups and the share of an MPI job leave to the process. If
 * OMP_THREAD_LIMIT is a smaller number, librex writes that number. If OMP_NUM_THREADS is not empty,
 * or the image does not need a shared library of OpenMP, librex writes nothing. In a child of the
 * process that loaded the image a loop has one thread: the OpenMP library would wait for threads
 * that the child does not have.
 *
 * All names here are reserved.
 *
 * Everything here is since 0.2.
 *
 * Guide: rex-kernels(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_OPENMP_H
#define REX_OPENMP_H

#ifndef REX_KERNEL_H
#error "rex/openmp.h is a part of rex/kernel.h: include that"
#endif

#include <limits.h>
#include <unistd.h>

#if __has_include(<omp.h>)
#include <omp.h>
#else
/* The OpenMP library for clang may be installed without the header omp.h. */
#ifdef __cplusplus
extern "C" {
#endif
/*
 * omp_get_wtime(), omp_get_max_threads(), omp_get_num_threads(), omp_in_parallel(): functions of
 * OpenMP.
 */
extern double omp_get_wtime(void);
extern int omp_get_max_threads(void);
extern int omp_get_num_threads(void);
extern int omp_in_parallel(void);
#ifdef __cplusplus
}
#endif
#endif

/* REX_DETAIL_WORTH: minimum time on one thread, in seconds, of a loop that starts threads. */
#define REX_DETAIL_WORTH 20e-6
/*
 * REX_DETAIL_SHORT: time in seconds. If the expected time of a loop is less, only the first two
 * runs on one thread and then every 16th run are timed.
 */
#define REX_DETAIL_SHORT 2e-6
/*
 * REX_DETAIL_INDEX, REX_DETAIL_TEAM: assumed time in seconds of one index of a loop, before a run
 * of the loop has been timed. REX_DETAIL_TEAM is for REX_FOR_TEAMS(), where a team runs each index.
 */
#define REX_DETAIL_INDEX 2e-9
#define REX_DETAIL_TEAM 200e-9

#ifdef __cplusplus
extern "C" {
#endif
/*
 * rex_detail_processors: maximum number of threads of a loop. An image has one such variable for
 * all its sources. librex finds the variable by its name in the image's file.
 */
extern __attribute__((__visibility__("protected"))) int rex_detail_processors;
__attribute__((__weak__)) int rex_detail_processors = INT_MAX;
/* rex_detail_process: the process that loaded the image; 0: not known yet. */
extern __attribute__((__visibility__("hidden"))) int rex_detail_process;
__attribute__((__weak__)) int rex_detail_process = 0;
#ifndef __clang__
/*
 * GOMP_parallel_start(), GOMP_parallel_end(): functions of the OpenMP library that start and end a
 * region.
 */
extern void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
extern void GOMP_parallel_end(void);
/*
 * GOMP_parallel(function, data, threads, flags): GCC compiles the parallel region of each loop of
 * rex/kernel.h to a call to this function. The definition below replaces the library's function,
 * which is slow for a region of one thread.
 */
extern __attribute__((__visibility__("hidden"))) void
GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((__weak__)) void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                                             unsigned flags)
{
    /*
     * Inside a region of several threads, a region of one thread must begin. If no such region
     * began, OpenMP would give the function only one thread's share of the loop.
     */
    bool starts = threads != 1 || omp_get_num_threads() != 1;
    (void)flags;
    if (starts)
        GOMP_parallel_start(function, data, threads);
    function(data);
    if (starts)
        GOMP_parallel_end();
}
#endif
#ifdef __cplusplus
}
#endif

__attribute__((__constructor__)) static inline void rex_detail_loaded(void)
{
    rex_detail_process = (int)getpid();
}

/*
 * struct rex_detail_place: the measurements of a loop in a source, zeros at first. Threads that run
 * the loop concurrently may overwrite each other's numbers; the numbers are only guesses.
 */
struct rex_detail_place {
    double cost;   /* seconds of one index on one thread */
    unsigned runs; /* number of runs on one thread */
};

/* struct rex_detail_run: one run of a loop. */
struct rex_detail_run {
    struct rex_detail_place *place, known; /* the loop's measurements when the run began */
    double count;                          /* number of indices */
    double began;                          /* start time in seconds; 0: not timed */
    int threads;                           /* number of threads; 0: the run is over */
};

/* rex_detail_count(n): returns the number of indices of a loop, at least 0. */
REX_DEVICE double rex_detail_count(int64_t n)
{
    return n > 0 ? (double)n : 0;
}

/* rex_detail_threads(): returns the number of threads for a long loop. */
REX_DEVICE int rex_detail_threads(void)
{
    int most = omp_get_max_threads();
    most = most < rex_detail_processors ? most : rex_detail_processors;
    return most > 1 && rex_detail_process == (int)getpid() ? most : 1;
}

/*
 * rex_detail_begin(place, count, guess): begins a run, and chooses the number of its threads. The
 * first two runs on one thread may wait for new memory, so their times may be too long. So until a
 * loop has run twice on one thread, it starts threads only if its expected time is ten times
 * REX_DETAIL_WORTH or more.
 */
REX_DEVICE struct rex_detail_run rex_detail_begin(struct rex_detail_place *place, double count,
                                                  double guess)
{
    struct rex_detail_run run = {place, {0, 0}, count, 0, 1};
    struct rex_detail_place *known = &run.known;
    __atomic_load(&place->cost, &known->cost, __ATOMIC_RELAXED);
    known->runs = __atomic_load_n(&place->runs, __ATOMIC_RELAXED);
    known->cost = known->cost > 0 ? known->cost : guess;
    double expected = count * known->cost;
    bool is_known = known->runs >= 2;
    if (expected >= (is_known ? REX_DETAIL_WORTH : 10 * REX_DETAIL_WORTH))
        run.threads = rex_detail_threads();
    if (run.threads == 1)
        __atomic_store_n(&place->runs, known->runs + 1, __ATOMIC_RELAXED);
    if (expected >= REX_DETAIL_SHORT || !is_known || known->runs % 16 == 0)
        run.began = omp_get_wtime();
    return run;
}

/*
 * rex_detail_end(run): updates the stored time of an index. In a run on one thread, the thread may
 * have waited for a processor. So such a run at most doubles the stored time. Only the first two
 * runs on one thread may each multiply the stored time by up to 16. In a run on several threads,
 * the threads may have waited for each other. So such a run never raises the stored time.
 */
REX_DEVICE void rex_detail_end(struct rex_detail_run *run)
{
    const struct rex_detail_place *known = &run->known;
    double most = known->cost;
    if (run->threads == 1)
        most *= known->runs < 2 ? 16 : 2;
    if (run->began > 0 && run->count > 0) {
        double cost = (omp_get_wtime() - run->began) * run->threads / run->count;
        cost = cost < most ? cost : most;
        __atomic_store(&run->place->cost, &cost, __ATOMIC_RELAXED);
    }
    run->threads = 0;
}

/*
 * REX_DETAIL_THREADED(count, guess): is written before a directive with
 * num_threads(rex_detail_run.threads). The macro sets rex_detail_run.threads for a loop of @count
 * indices. @guess is the assumed time of one index in seconds.
 */
#define REX_DETAIL_THREADED(count, guess)                                          \
    for (struct rex_detail_run rex_detail_run =                                    \
             rex_detail_begin(__extension__({                                      \
                                  static struct rex_detail_place rex_detail_place; \
                                  &rex_detail_place;                               \
                              }),                                                  \
                              (count), (guess));                                   \
         rex_detail_run.threads > 0; rex_detail_end(&rex_detail_run))

#endif
