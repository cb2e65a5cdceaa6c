/*
 * makecopy.c - copies between host memory and a GPU. The driver makes a copy, or threads of librex
 * make it, or many small copies go together through pinned memory.
 *
 * On an H100 the driver copies pinned memory in place, at 50 GB/s. It copies pageable memory
 * through its own buffers with one thread, at 9 to 14 GB/s. librex's threads reach 25 to 39 GB/s.
 * Each thread has a launch context with two chunks of pinned memory. The thread copies one chunk
 * while the device copies the other.
 *
 * Small copies go together through the pinned memory of one launch context, with one wait. For 64
 * KB, even a single copy through this memory takes half of the driver's time. Copies of memory that
 * is already pinned go together, too: they need one wait, and no chunk.
 *
 * If a copy by librex fails, the driver or libomptarget makes the whole copy again, and returns the
 * result.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/makecopy.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "cuda/launchcontext.h"
#include "cuda/pinned.h"
#include "memory/copythreads.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "trace/trace.h"

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

/* Bytes of a chunk: half of the staging memory of a launch context (cuda/launchcontext.h). */
#define CHUNK REX_STAGED_CHUNK

/* One copy that the threads share. */
struct job {
    struct rex_copy copy;
    int ordinal;   /* the driver's number of the GPU */
    size_t next;   /* index of the first piece that no thread has begun */
    unsigned able; /* number of threads that got a launch context with chunks */
    bool is_first; /* a thread allocated resources, so the time of the copy is not typical */
    /* said: a thread has written `why`. failed: a thread has failed */
    bool said, failed;
    char why[256]; /* reason of the first failure */
};

static void say_why(struct job *job)
{
    if (!__atomic_exchange_n(&job->said, true, __ATOMIC_ACQ_REL))
        snprintf(job->why, sizeof job->why, "%s", rex_cuda_why());
}

/* ---- when threads and staged copies save time ------------------------------------------------ */

/*
 * Threads first allocate pinned memory, which takes 8 ms on an H100. So threads begin after the
 * driver has spent 8 ms on large copies. A program with few copies never allocates the memory.
 */
#define NANOSECONDS_THAT_PAY UINT64_C(8000000)

/*
 * If threads were slower than the driver in a size class, threads try again after the driver has
 * spent NANOSECONDS_UNTIL_RETRY on copies of this size class. The time is measured from the last
 * copy that threads made.
 */
#define NANOSECONDS_UNTIL_RETRY (100 * NANOSECONDS_THAT_PAY)

/*
 * The first staged copy allocates staging memory, which takes 1.5 ms. So libomptarget makes the
 * first small copies. librex makes small copies from number COPIES_THAT_PAY on.
 */
#define COPIES_THAT_PAY ((size_t)200)

/*
 * Bytes and time of copies of one size class. Older copies have less weight. The members are
 * atomic.
 */
struct pace {
    uint64_t bytes, nanoseconds;
};

/* Number of size classes of large copies: from 4, 8, 16 and 32 MB on. */
#define SIZES 4

static struct {
    struct pace driver[SIZES], threads[SIZES];
    uint64_t by_driver; /* time of all large copies by the driver, in nanoseconds */
    /*
     * for each size class: nanoseconds that the driver has spent on copies since the last copy by
     * threads; counted only if threads are slower than the driver
     */
    uint64_t until_retry[SIZES];
    size_t small_copies; /* number of small copies so far, at most about COPIES_THAT_PAY */
} seen;                  /* all members are atomic */

static size_t size_class(size_t size)
{
    size_t found = 0;
    for (size /= 2 * REX_COPY_LARGE; size > 0 && found < SIZES - 1; size /= 2)
        found++;
    return found;
}

/*
 * Relaxed: all threads that make copies read and change the numbers in `seen`. The numbers only
 * decide whether threads, the driver or libomptarget makes a copy. So an old number or a lost
 * update costs only time.
 */
static uint64_t get_relaxed(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static bool are_threads_slower(size_t at)
{
    const struct pace *driver = &seen.driver[at], *threads = &seen.threads[at];
    return get_relaxed(&driver->bytes) > 0 && get_relaxed(&threads->bytes) > 0 &&
           (double)get_relaxed(&threads->nanoseconds) / (double)get_relaxed(&threads->bytes) >
               (double)get_relaxed(&driver->nanoseconds) / (double)get_relaxed(&driver->bytes);
}

/* If the program sets the number of threads, threads make large copies from the first copy on. */
bool rex_copy_threads_pay(size_t size)
{
    size_t at = size_class(size);
    return rex_setting_read(REX_OPTION_COPY_THREADS) >= 0 ||
           (get_relaxed(&seen.by_driver) >= NANOSECONDS_THAT_PAY &&
            (!are_threads_slower(at) ||
             get_relaxed(&seen.until_retry[at]) >= NANOSECONDS_UNTIL_RETRY));
}

void rex_copy_large_took(bool by_threads, size_t size, uint64_t nanoseconds)
{
    size_t at = size_class(size);
    struct pace *pace = by_threads ? &seen.threads[at] : &seen.driver[at];
    __atomic_store_n(&pace->bytes, get_relaxed(&pace->bytes) / 4 * 3 + size, __ATOMIC_RELAXED);
    __atomic_store_n(&pace->nanoseconds, get_relaxed(&pace->nanoseconds) / 4 * 3 + nanoseconds,
                     __ATOMIC_RELAXED);
    if (by_threads) {
        __atomic_store_n(&seen.until_retry[at], 0, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&seen.by_driver, nanoseconds, __ATOMIC_RELAXED);
    if (are_threads_slower(at))
        __atomic_fetch_add(&seen.until_retry[at], nanoseconds, __ATOMIC_RELAXED);
}

/*
 * Waits for the stream of OWN. Returns false on failure. In that case rex_cuda_why() gives the
 * reason, and no later copy uses OWN.
 */
static bool wait_for_copies(struct rex_launch_context *own)
{
    own->is_broken = REX_CUDA(cuStreamSynchronize, own->stream) != 0;
    return !own->is_broken;
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* The bytes of a copy that one thread copies at a time: `size` bytes from offset `at`. */
struct piece {
    size_t at, size;
};

/*
 * Takes the next piece of the copy. Returns false if no piece is left, or if a thread has failed.
 */
static bool take_piece(struct job *job, struct piece *piece)
{
    /*
     * Relaxed: the threads only need different pieces. The caller uses the bytes after all threads
     * have returned.
     */
    piece->at = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED) * CHUNK;
    /* Relaxed: if another thread has failed, a stale value costs one more piece. */
    if (piece->at >= job->copy.size || __atomic_load_n(&job->failed, __ATOMIC_RELAXED))
        return false;
    size_t left = job->copy.size - piece->at;
    piece->size = left < CHUNK ? left : CHUNK;
    return true;
}

/* The thread fills one chunk of its staging memory while the device reads the other chunk. */
static bool copy_to_device(struct job *job, const struct rex_launch_context *own)
{
    struct piece piece;
    for (size_t i = 0; take_piece(job, &piece); i++) {
        void *chunk = own->staging + i % 2 * CHUNK, *event = own->event[i % 2];
        if (i >= 2 && REX_CUDA(cuEventSynchronize, event) != 0)
            return false;
        memcpy(chunk, (char *)job->copy.host + piece.at, piece.size);
        if (REX_CUDA(cuMemcpyHtoDAsync, job->copy.device + piece.at, chunk, piece.size,
                     own->stream) != 0 ||
            REX_CUDA(cuEventRecord, event, own->stream) != 0)
            return false;
    }
    return true;
}

/* The thread empties one chunk of its staging memory while the device fills the other chunk. */
static bool copy_from_device(struct job *job, const struct rex_launch_context *own)
{
    struct piece piece, last = {0, 0};
    for (size_t i = 0;; i++) {
        size_t before = (i + 1) % 2;
        bool is_more = take_piece(job, &piece);
        if (is_more && (REX_CUDA(cuMemcpyDtoHAsync, own->staging + i % 2 * CHUNK,
                                 job->copy.device + piece.at, piece.size, own->stream) != 0 ||
                        REX_CUDA(cuEventRecord, own->event[i % 2], own->stream) != 0))
            return false;
        if (i > 0) {
            if (REX_CUDA(cuEventSynchronize, own->event[before]) != 0)
                return false;
            memcpy((char *)job->copy.host + last.at, own->staging + before * CHUNK, last.size);
        }
        if (!is_more)
            return true;
        last = piece;
    }
}

/*
 * Copies pieces in one thread until no piece is left. If the thread cannot take a launch context or
 * make the chunks, the other threads copy all pieces.
 */
static void share_copy(unsigned number, void *argument)
{
    struct job *job = argument;
    struct rex_launch_context *own;
    int entered;
    (void)number;
    if (rex_launch_context_take(job->ordinal, NULL, &own, &entered) != REX_OK) {
        say_why(job);
        return;
    }
    /* Relaxed: the caller reads `is_first` and `able` after all threads have returned. */
    if (own->event[1] == NULL)
        __atomic_store_n(&job->is_first, true, __ATOMIC_RELAXED);
    if (!rex_launch_context_make_chunks(own)) {
        say_why(job);
        goto give_back;
    }
    __atomic_fetch_add(&job->able, 1, __ATOMIC_RELAXED);
    bool done = job->copy.to_host ? copy_from_device(job, own) : copy_to_device(job, own);
    if (!done)
        say_why(job);
    bool waited = wait_for_copies(own);
    if (!waited)
        say_why(job);
    /*
     * Relaxed: other threads read `failed` only to stop early. The caller reads `failed` after all
     * threads have returned.
     */
    if (!done || !waited)
        __atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
give_back:
    rex_launch_context_give(own, entered);
}

/* ---- one large copy -------------------------------------------------------------------------- */

static bool find_gpu_of(uint64_t address, int *ordinal)
{
    return rex_driver.cuPointerGetAttribute(ordinal, POINTER_DEVICE_ORDINAL, address) == 0 &&
           *ordinal >= 0 && *ordinal < REX_CUDA_DEVICES_MAX;
}

/*
 * Returns true if threads may make COPY. If the driver makes such a copy, copy_large() records the
 * time.
 */
static bool is_large_copy(const struct rex_copy *copy)
{
    return copy->size >= REX_COPY_LARGE && rex_copy_threads() > 0 &&
           rex_is_pageable_now(copy->host) &&
           rex_is_pageable_now((const char *)copy->host + copy->size - 1);
}

/*
 * Lets threads make the large COPY. Call this after the commands on which COPY depends are
 * complete. Returns true if COPY is complete. Returns false, for example, if threads would be
 * slower than the driver, or have failed.
 */
static bool copy_by_threads(const struct rex_copy *copy)
{
    struct job job = {.copy = *copy};
    int last = -1;
    if (!rex_copy_threads_pay(copy->size) || !find_gpu_of(copy->device, &job.ordinal) ||
        !find_gpu_of(copy->device + copy->size - 1, &last) || last != job.ordinal)
        return false;
    size_t chunks = (copy->size - 1) / CHUNK + 1;
    unsigned threads = rex_copy_threads();
    struct rex_copy_crew *crew =
        rex_copy_crew_take(rex_copy_crews_of(rex_processors_known(), threads));
    if (crew == NULL)
        return false;
    uint64_t begin = rex_trace_clock();
    rex_copy_crew_run(crew, chunks < threads ? (unsigned)chunks : threads, share_copy, &job);
    bool done = job.able > 0 && !job.failed;
    if (!done)
        rex_log(REX_LOG_INFO, "%zu bytes were not copied by threads, but by the driver: %s",
                copy->size, job.said ? job.why : "no thread could be started");
    else if (!job.is_first)
        rex_copy_large_took(true, copy->size, rex_trace_clock() - begin);
    rex_copy_crew_give(crew);
    return done;
}

static int copy_by_driver(const struct rex_copy *copy, void *stream)
{
    return copy->to_host
               ? REX_CUDA(cuMemcpyDtoHAsync, copy->host, copy->device, copy->size, stream)
               : REX_CUDA(cuMemcpyHtoDAsync, copy->device, copy->host, copy->size, stream);
}

/*
 * cuMemcpy*Async() copies pageable memory before it returns, except the last part. So the time of
 * the call is about the time of the copy.
 */
static int copy_large(const struct rex_copy *copy, void *stream)
{
    if (copy_by_threads(copy))
        return 0;
    uint64_t begin = rex_trace_clock();
    int result = copy_by_driver(copy, stream);
    if (result == 0)
        rex_copy_large_took(false, copy->size, rex_trace_clock() - begin);
    return result;
}

int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait)
{
    if (!may_wait || !is_large_copy(copy))
        return copy_by_driver(copy, stream);
    int result = REX_CUDA(cuStreamSynchronize, stream);
    if (result != 0)
        return result;
    return copy_large(copy, stream);
}

/* ---- copies of data calls ------------------------------------------------------------------- */

bool rex_copies_are_allowed(void)
{
    return rex_cuda_need(REX_CUDA_QUEUES) == 0 && (rex_process_reasons() & REX_REASON_REPORTS) == 0;
}

bool rex_copy_is_ours(struct rex_copy *copy)
{
    if (copy->size == 0)
        return false;
    copy->is_pinned = rex_is_pinned_whole(copy->host, copy->size);
    if (copy->is_pinned)
        return true;
    if (copy->size > CHUNK)
        return is_large_copy(copy);
    if (!rex_is_pageable(copy->host) || !rex_is_pageable((char *)copy->host + copy->size - 1))
        return false;
    return get_relaxed(&seen.small_copies) >= COPIES_THAT_PAY ||
           __atomic_add_fetch(&seen.small_copies, 1, __ATOMIC_RELAXED) >= COPIES_THAT_PAY ||
           rex_setting_read(REX_OPTION_COPY_THREADS) >= 0;
}

/*
 * Maximum bytes of a piece of a staged copy to the device. The CPU copies a piece to the staging
 * memory while the device reads the previous piece.
 */
#define PIECE ((size_t)256 << 10)

/* Returns the bytes of staging memory that COPY needs. */
static size_t staged_size(const struct rex_copy *copy)
{
    return copy->is_pinned ? 0 : copy->size;
}

static bool copy_through(const struct rex_copy *copies, size_t count,
                         struct rex_launch_context *own)
{
    bool done = true;
    unsigned char *chunk = own->staging;
    for (size_t i = 0; i < count && done; chunk += staged_size(&copies[i++])) {
        struct rex_copy piece = copies[i];
        if (piece.is_pinned) {
            done = copy_by_driver(&piece, own->stream) == 0;
            continue;
        }
        if (piece.to_host) {
            piece.host = chunk;
            done = copy_by_driver(&piece, own->stream) == 0;
            continue;
        }
        for (size_t at = 0; at < copies[i].size && done; at += piece.size) {
            piece.size = copies[i].size - at < PIECE ? copies[i].size - at : PIECE;
            piece.host = chunk + at;
            piece.device = copies[i].device + at;
            memcpy(piece.host, (char *)copies[i].host + at, piece.size);
            done = copy_by_driver(&piece, own->stream) == 0;
        }
    }
    done = wait_for_copies(own) && done;
    chunk = own->staging;
    for (size_t i = 0; i < count && done; chunk += staged_size(&copies[i++]))
        if (copies[i].to_host && !copies[i].is_pinned)
            memcpy(copies[i].host, chunk, copies[i].size);
    return done;
}

/*
 * Returns 0 if the first copy has size 0 or needs more than one chunk. Otherwise returns the number
 * of copies that can be made together. Sets *STAGED to the bytes of staging memory for these
 * copies.
 *
 * If copies of both directions use one range of host memory, they must run in order. The stream
 * runs pinned copies in order. A staged copy to the device reads the host memory at once, before
 * earlier copies in the stream are complete. A staged copy to the host writes the host memory after
 * all copies in the stream are complete. So if one of the copies is staged, all must have one
 * direction.
 */
static size_t count_together(const struct rex_copy *copies, size_t count, size_t *staged)
{
    bool has_both_directions = false;
    size_t together = 0;
    *staged = 0;
    for (const struct rex_copy *copy = copies; together < count && copy->size > 0; copy++) {
        size_t size = staged_size(copy);
        has_both_directions |= copy->to_host != copies[0].to_host;
        if (size > CHUNK - *staged || (has_both_directions && *staged + size > 0))
            break;
        *staged += size;
        together++;
    }
    return together;
}

size_t rex_copy_some(const struct rex_copy *copies, size_t count, int number, bool *are_made)
{
    struct rex_launch_context *own;
    int ordinal = rex_device_noted_ordinal(number), entered;
    size_t staged, together = count_together(copies, count, &staged);
    size_t some = together > 0 ? together : 1;
    *are_made = false;
    if (copies[0].size == 0)
        return some;
    if (ordinal == -1 ||
        (ordinal == REX_ORDINAL_UNKNOWN && !find_gpu_of(copies[0].device, &ordinal))) {
        /*
         * The memory may be on the host device, where librex makes no copies. Restart the count of
         * small copies. After that, rex_copy_is_ours() leaves small copies to libomptarget until
         * the count reaches COPIES_THAT_PAY again. Relaxed: see get_relaxed().
         */
        __atomic_store_n(&seen.small_copies, 0, __ATOMIC_RELAXED);
        return some;
    }
    if (rex_launch_context_take(ordinal, NULL, &own, &entered) != REX_OK)
        return some;
    if (together > 0)
        *are_made =
            rex_launch_context_make_staging(own, staged) && copy_through(copies, together, own);
    else
        *are_made = copy_large(copies, own->stream) == 0 && wait_for_copies(own);
    rex_launch_context_give(own, entered);
    return some;
}
