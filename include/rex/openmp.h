/*
 * rex/openmp.h - whether a loop of a kernel starts threads of the CPU. rex/kernel.h includes it in
 * a host image that is compiled with OpenMP.
 *
 * A short loop does not earn back what it takes to start threads and to wait for the last one.
 * Each place of a loop remembers what one index of it took, and a run that should take less than
 * REX_DETAIL_WORTH on one thread stays on the calling thread.
 *
 * A loop has as many threads as OpenMP would start, which is what the process's mask of processors
 * and OMP_NUM_THREADS allow, and not more than rex_detail_processors. librex writes there how many
 * processors the mask, the control groups and the share of an MPI job leave to the process. It does
 * so before the image is loaded, unless OMP_NUM_THREADS is set. In a child of
 * the process that loaded the image a loop has one thread: the library of OpenMP may wait for
 * threads that the child does not have.
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
/* clang may lack the header where it has the library. */
#ifdef __cplusplus
extern "C" {
#endif
/*
 * omp_get_wtime(), omp_get_max_threads(), omp_get_num_threads(), omp_in_parallel(): of OpenMP.
 */
extern double omp_get_wtime(void);
extern int omp_get_max_threads(void);
extern int omp_get_num_threads(void);
extern int omp_in_parallel(void);
#ifdef __cplusplus
}
#endif
#endif

/* REX_DETAIL_WORTH: a loop of so many seconds on one thread starts threads. */
#define REX_DETAIL_WORTH 20e-6
/* REX_DETAIL_SHORT: of loops that should take less seconds, only some are timed. */
#define REX_DETAIL_SHORT 2e-6
/* REX_DETAIL_INDEX, REX_DETAIL_TEAM: seconds that an index or a team takes, until it is known. */
#define REX_DETAIL_INDEX 2e-9
#define REX_DETAIL_TEAM 200e-9

#ifdef __cplusplus
extern "C" {
#endif
/*
 * rex_detail_processors: the most threads of a loop, one for all sources of an image. librex finds
 * it by its name in the image's file.
 */
extern __attribute__((__visibility__("protected"))) int rex_detail_processors;
__attribute__((__weak__)) int rex_detail_processors = INT_MAX;
/* rex_detail_process: the process that loaded the image; 0: not known yet. */
extern __attribute__((__visibility__("hidden"))) int rex_detail_process;
__attribute__((__weak__)) int rex_detail_process = 0;
#ifndef __clang__
/* GOMP_parallel_start(), GOMP_parallel_end(): of OpenMP's library; what one thread starts. */
extern void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
extern void GOMP_parallel_end(void);
/*
 * GOMP_parallel(function, data, threads, flags): what GCC calls for a region, in place of the
 * library's own, which is slow for a region of one thread.
 */
extern __attribute__((__visibility__("hidden"))) void
GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((__weak__)) void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                                             unsigned flags)
{
    /* Inside of a region of several threads the function would do the share of one of them. */
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
 * struct rex_detail_place: of a loop in a source, zeros at first. Threads that run it at once may
 * overwrite each other's numbers, which are guesses at any time.
 */
struct rex_detail_place {
    double cost;   /* seconds of one index on one thread */
    unsigned runs; /* on one thread */
};

/* struct rex_detail_run: one run of a loop. */
struct rex_detail_run {
    struct rex_detail_place *place, known; /* what was known when it began */
    double count;                          /* of indices */
    double began;                          /* 0: it is not timed */
    int threads;                           /* 0: it is over */
};

/* rex_detail_count(n): indices of a loop, not less than none. */
REX_DEVICE double rex_detail_count(int64_t n)
{
    return n > 0 ? (double)n : 0;
}

/* rex_detail_threads(): for a loop that is worth them. */
REX_DEVICE int rex_detail_threads(void)
{
    int most = omp_get_max_threads();
    most = most < rex_detail_processors ? most : rex_detail_processors;
    return most > 1 && rex_detail_process == (int)getpid() ? most : 1;
}

/*
 * rex_detail_begin(place, count, guess): a run, and with how many threads. The first runs may wait
 * for new memory, so that they do not say what a short loop costs.
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
 * rex_detail_end(run): learns from it. One thread may have waited for the processor, so that the
 * cost only doubles from one run to the next, but for the first ones. Several threads may have
 * waited for each other, so that they only lower it.
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
 * REX_DETAIL_THREADED(count, guess): in front of a directive with
 * num_threads(rex_detail_run.threads). Its loop, of @count indices that take @guess seconds each,
 * decides how many these are.
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
