/*
 * rex/openmp.h - whether a loop of a kernel starts threads of the CPU. rex/kernel.h includes it in a
 * host image that is compiled with OpenMP.
 *
 * Starting threads, and waiting for the last one, takes microseconds, which a short loop does not
 * earn back. Each place of a loop remembers what one index of it took, and a run that should take
 * less than REX_DETAIL_WORTH on one thread stays on the calling thread.
 *
 * A loop has as many threads as OpenMP would start, which is what the process's mask of processors
 * and OMP_NUM_THREADS allow, and not more than rex_detail_processors. librex writes the limit of the
 * control groups there when it loads the image, unless OMP_NUM_THREADS is set. In a child of the
 * process that loaded the image a loop has one thread: the library of OpenMP may wait for threads
 * that the child does not have.
 *
 * Everything here is since 0.2.
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
/** omp_get_wtime(), omp_get_max_threads(), omp_in_parallel(): of OpenMP. */
extern double omp_get_wtime(void);
extern int omp_get_max_threads(void);
extern int omp_in_parallel(void);
#ifdef __cplusplus
}
#endif
#endif

/** REX_DETAIL_WORTH: a loop of so many seconds on one thread starts threads. */
#define REX_DETAIL_WORTH 20e-6
/** REX_DETAIL_SHORT: of loops that should take less seconds, only some are timed. */
#define REX_DETAIL_SHORT 2e-6
/** REX_DETAIL_INDEX, REX_DETAIL_TEAM: seconds that an index or a team takes, until it is known. */
#define REX_DETAIL_INDEX 2e-9
#define REX_DETAIL_TEAM 200e-9

#ifdef __cplusplus
extern "C" {
#endif
/**
 * rex_detail_processors: the most threads of a loop, one for all sources of an image. librex finds
 * it by its name in the image's file.
 */
extern __attribute__((__visibility__("protected"))) int rex_detail_processors;
__attribute__((__weak__)) int rex_detail_processors = INT_MAX;
/** rex_detail_process: the process that loaded the image; 0: not known yet. */
extern __attribute__((__visibility__("hidden"))) int rex_detail_process;
__attribute__((__weak__)) int rex_detail_process = 0;
#ifdef __cplusplus
}
#endif

__attribute__((__constructor__)) static inline void rex_detail_loaded(void)
{
    rex_detail_process = (int)getpid();
}

/** struct rex_detail_place: of a loop in a source; threads that run it at once may overwrite it. */
struct rex_detail_place {
    double cost;   /* seconds of one index on one thread; 0: not known */
    unsigned runs; /* of those that are too short to time all */
};

/** struct rex_detail_run: one run of a loop. */
struct rex_detail_run {
    struct rex_detail_place *place;
    double count, cost; /* of indices; what one is thought to take */
    double began;       /* 0: it is not timed */
    int threads;        /* 0: it is over */
};

/** rex_detail_count(n): indices of a loop, not less than none. */
REX_DEVICE double rex_detail_count(int64_t n)
{
    return n > 0 ? (double)n : 0;
}

/** rex_detail_threads(): for a loop that is worth them. */
REX_DEVICE int rex_detail_threads(void)
{
    int most = omp_get_max_threads();
    if (rex_detail_process != (int)getpid())
        return 1;
    return most < rex_detail_processors ? most : rex_detail_processors;
}

/** rex_detail_begin(place, count, guess): a run, and with how many threads. */
REX_DEVICE struct rex_detail_run rex_detail_begin(struct rex_detail_place *place, double count,
                                                  double guess)
{
    struct rex_detail_run run = {place, count, 0, 0, 1};
    __atomic_load(&place->cost, &run.cost, __ATOMIC_RELAXED);
    if (run.cost <= 0)
        run.cost = guess;
    double expected = count * run.cost;
    if (expected < REX_DETAIL_SHORT) {
        unsigned runs = __atomic_load_n(&place->runs, __ATOMIC_RELAXED);
        __atomic_store_n(&place->runs, runs + 1, __ATOMIC_RELAXED);
        if (runs % 16 != 0)
            return run;
    }
    if (expected >= REX_DETAIL_WORTH) {
        run.threads = rex_detail_threads();
        /* OpenMP decides how many there are, and what it took says nothing. */
        if (omp_in_parallel())
            return run;
    }
    run.began = omp_get_wtime();
    return run;
}

/**
 * rex_detail_end(run): learns from it. A loop that took long on one thread, because its memory was
 * new or the thread had to wait for a processor, is believed in part. What many threads took lies
 * between a share of what one thread takes and all of it: what is known stays, if it lies there.
 */
REX_DEVICE void rex_detail_end(struct rex_detail_run *run)
{
    int threads = run->threads;
    run->threads = 0;
    if (run->began <= 0 || run->count <= 0)
        return;
    double cost = (omp_get_wtime() - run->began) / run->count;
    if (threads == 1)
        cost = cost < 16 * run->cost ? cost : 16 * run->cost;
    else if (cost <= run->cost && run->cost <= cost * threads)
        cost = run->cost;
    __atomic_store(&run->place->cost, &cost, __ATOMIC_RELAXED);
}

/**
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
