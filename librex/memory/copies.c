/*
 * copies.c - copies between host memory and a GPU, and who makes them: the driver, librex's
 * threads, or many small ones at once through pinned memory.
 *
 * On an H100 the driver copies pinned memory from its place, at 50 GB/s. It copies pageable memory
 * through its own buffers with one thread, at 9 to 14. librex's threads reach 25 to 39. Each has a
 * launch context for itself: it copies one chunk while the device copies the other. Small copies go
 * together through the pinned memory of one launch context, with one wait. A single one of 64 KB
 * takes half the time that it takes the driver.
 *
 * A failure here fails no copy: the driver copies all again, and its result counts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/copies.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "cuda/launchcontext.h"
#include "cuda/pinned.h"
#include "memory/copythreads.h"
#include "trace/trace.h"

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

#define CHUNK REX_STAGED_CHUNK

/* One copy that the threads share. */
struct job {
    struct rex_copy copy;
    int ordinal;   /* the driver's number of the GPU */
    size_t next;   /* the first chunk that no thread has begun */
    unsigned able; /* threads that had all resources */
    bool is_first; /* a thread has got its resources for it */
    bool said, failed;
    char why[256]; /* the first failure */
};

static void say_why(struct job *job)
{
    if (!__atomic_exchange_n(&job->said, true, __ATOMIC_ACQ_REL))
        snprintf(job->why, sizeof job->why, "%s", rex_cuda_why());
}

/* ---- when threads and staged copies pay ------------------------------------------------------ */

/*
 * Threads first have to wait for pinned memory, 8 ms on an H100. So they begin when the driver has
 * taken as long for large copies: a program that copies little is then no slower.
 */
#define NANOSECONDS_THAT_PAY UINT64_C(8000000)

/* Where the threads were slower, they try again when the driver has taken so long. */
#define NANOSECONDS_UNTIL_RETRY (100 * NANOSECONDS_THAT_PAY)

/* The first small copy waits 1.5 ms for its chunk. So libomptarget makes so many before. */
#define COPIES_THAT_PAY ((size_t)200)

/* The time of copies of about one size; the last ones count most. Atomic. */
struct pace {
    uint64_t bytes, nanoseconds;
};

/* From 4, 8, 16 and 32 MB on. */
#define SIZES 4

static struct {
    struct pace driver[SIZES], threads[SIZES];
    uint64_t by_driver;          /* nanoseconds of all large copies */
    uint64_t until_retry[SIZES]; /* nanoseconds by the driver since threads were slower */
    size_t small_copies;         /* left to libomptarget */
} seen;                          /* atomic */

static size_t size_class(size_t size)
{
    size_t found = 0;
    for (size /= 2 * REX_COPY_LARGE; size > 0 && found < SIZES - 1; size /= 2)
        found++;
    return found;
}

/* Relaxed, here and below: each number stands for itself, and a lost one changes little. */
static uint64_t get(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static void count_in(struct pace *pace, size_t bytes, uint64_t nanoseconds)
{
    __atomic_store_n(&pace->bytes, get(&pace->bytes) / 4 * 3 + bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&pace->nanoseconds, get(&pace->nanoseconds) / 4 * 3 + nanoseconds,
                     __ATOMIC_RELAXED);
}

static bool are_threads_slower(size_t at)
{
    const struct pace *driver = &seen.driver[at], *threads = &seen.threads[at];
    return get(&driver->bytes) > 0 && get(&threads->bytes) > 0 &&
           (double)get(&threads->nanoseconds) / (double)get(&threads->bytes) >
               (double)get(&driver->nanoseconds) / (double)get(&driver->bytes);
}

/* A program that sets the number of threads gets them at once. */
bool rex_copy_threads_pay(size_t size)
{
    size_t at = size_class(size);
    return rex_setting_read(REX_OPTION_COPY_THREADS) >= 0 ||
           (get(&seen.by_driver) >= NANOSECONDS_THAT_PAY &&
            (!are_threads_slower(at) || get(&seen.until_retry[at]) >= NANOSECONDS_UNTIL_RETRY));
}

void rex_copy_driver_took(size_t size, uint64_t nanoseconds)
{
    size_t at = size_class(size);
    count_in(&seen.driver[at], size, nanoseconds);
    __atomic_fetch_add(&seen.by_driver, nanoseconds, __ATOMIC_RELAXED);
    if (are_threads_slower(at))
        __atomic_fetch_add(&seen.until_retry[at], nanoseconds, __ATOMIC_RELAXED);
}

void rex_copy_threads_took(size_t size, uint64_t nanoseconds)
{
    size_t at = size_class(size);
    count_in(&seen.threads[at], size, nanoseconds);
    __atomic_store_n(&seen.until_retry[at], 0, __ATOMIC_RELAXED);
}

/* Waits for the stream of OWN. False with rex_cuda_why(): it will not be used again. */
static bool wait(struct rex_launch_context *own)
{
    own->is_broken = REX_CUDA(cuStreamSynchronize, own->stream) != 0;
    return !own->is_broken;
}

/* ---- one thread ------------------------------------------------------------------------------ */

struct piece {
    size_t at, size;
};

/* Takes the next piece of the copy. False: none is left, or another thread has failed. */
static bool take_piece(struct job *job, struct piece *piece)
{
    /* Relaxed: any thread may copy any piece; the driver and the job's end order the bytes. */
    piece->at = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED) * CHUNK;
    /* Relaxed: as above; a thread that misses a failure copies one more piece. */
    if (piece->at >= job->copy.size || __atomic_load_n(&job->failed, __ATOMIC_RELAXED))
        return false;
    size_t left = job->copy.size - piece->at;
    piece->size = left < CHUNK ? left : CHUNK;
    return true;
}

static unsigned char *chunk_of(const struct rex_launch_context *own, size_t i)
{
    return own->staging + i % 2 * CHUNK;
}

/* Fills one chunk while the device reads the other. */
static bool copy_to_device(struct job *job, const struct rex_launch_context *own)
{
    struct piece piece;
    for (size_t i = 0; take_piece(job, &piece); i++) {
        void *chunk = chunk_of(own, i), *event = own->event[i % 2];
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

/* Waits until the device has filled chunk I, and copies it to PIECE of the host's memory. */
static bool empty_chunk(const struct job *job, const struct rex_launch_context *own, size_t i,
                        const struct piece *piece)
{
    if (REX_CUDA(cuEventSynchronize, own->event[i % 2]) != 0)
        return false;
    memcpy((char *)job->copy.host + piece->at, chunk_of(own, i), piece->size);
    return true;
}

/* Empties one chunk while the device fills the other. */
static bool copy_from_device(struct job *job, const struct rex_launch_context *own)
{
    struct piece piece, last = {0, 0};
    size_t i = 0;
    for (; take_piece(job, &piece); i++) {
        if (REX_CUDA(cuMemcpyDtoHAsync, chunk_of(own, i), job->copy.device + piece.at, piece.size,
                     own->stream) != 0 ||
            REX_CUDA(cuEventRecord, own->event[i % 2], own->stream) != 0 ||
            (i > 0 && !empty_chunk(job, own, i - 1, &last)))
            return false;
        last = piece;
    }
    return i == 0 || empty_chunk(job, own, i - 1, &last);
}

static void copy_pieces(struct job *job, struct rex_launch_context *own)
{
    bool done = job->copy.to_host ? copy_from_device(job, own) : copy_to_device(job, own);
    if (!done)
        say_why(job);
    bool waited = wait(own);
    if (!waited)
        say_why(job);
    /* Relaxed: other threads read it to stop early, and the caller reads it after the job's end. */
    if (!done || !waited)
        __atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
}

/* A thread that lacks a resource leaves the work to the other threads. */
static void work(unsigned number, void *argument)
{
    struct job *job = argument;
    struct rex_launch_context *own;
    int entered;
    (void)number;
    if (rex_launch_context_take(job->ordinal, NULL, &own, &entered) != REX_OK) {
        say_why(job);
        return;
    }
    if (own->event[1] == NULL)
        __atomic_store_n(&job->is_first, true, __ATOMIC_RELAXED); /* as `able` */
    if (rex_launch_context_make_chunks(own)) {
        /* Relaxed: read after the job's end. */
        __atomic_fetch_add(&job->able, 1, __ATOMIC_RELAXED);
        copy_pieces(job, own);
    } else
        say_why(job);
    rex_launch_context_give(own, entered);
}

/* ---- one large copy -------------------------------------------------------------------------- */

static bool find_gpu(uint64_t address, int *ordinal)
{
    return rex_driver.cuPointerGetAttribute(ordinal, POINTER_DEVICE_ORDINAL, address) == 0 &&
           *ordinal >= 0 && *ordinal < REX_CUDA_DEVICES_MAX;
}

static bool is_pageable_now(const struct rex_copy *copy)
{
    return rex_is_pageable_now(copy->host) &&
           rex_is_pageable_now((const char *)copy->host + copy->size - 1);
}

/* Whether threads might copy it; its time by the driver counts if they do not. */
static bool is_large(const struct rex_copy *copy)
{
    return copy->size >= REX_COPY_LARGE && rex_copy_threads() > 0 && is_pageable_now(copy);
}

/* Whether the device memory of COPY is on one GPU, *ORDINAL. */
static bool is_of_one_gpu(const struct rex_copy *copy, int *ordinal)
{
    int last = -1;
    return find_gpu(copy->device, ordinal) && find_gpu(copy->device + copy->size - 1, &last) &&
           last == *ordinal;
}

static bool share(const struct rex_copy *copy, int ordinal)
{
    struct job job = {.copy = *copy, .ordinal = ordinal};
    size_t chunks = (copy->size - 1) / CHUNK + 1;
    unsigned threads = rex_copy_threads();
    uint64_t begin = rex_trace_clock();
    rex_copy_threads_run(chunks < threads ? (unsigned)chunks : threads, work, &job);
    bool done = job.able > 0 && !job.failed;
    if (!done)
        rex_log(REX_LOG_INFO, "%zu bytes were not copied by threads, but by the driver: %s",
                copy->size, job.said ? job.why : "no thread could be started");
    else if (!job.is_first)
        rex_copy_threads_took(copy->size, rex_trace_clock() - begin);
    return done;
}

/* COPY is large, and nothing in a stream comes before it. */
static bool copy_by_threads(const struct rex_copy *copy)
{
    int ordinal = -1;
    if (!rex_copy_threads_pay(copy->size) || !is_of_one_gpu(copy, &ordinal) ||
        !rex_copy_threads_take())
        return false;
    bool done = share(copy, ordinal);
    rex_copy_threads_give();
    return done;
}

static int copy_by_driver(const struct rex_copy *copy, void *stream)
{
    return copy->to_host
               ? REX_CUDA(cuMemcpyDtoHAsync, copy->host, copy->device, copy->size, stream)
               : REX_CUDA(cuMemcpyHtoDAsync, copy->device, copy->host, copy->size, stream);
}

/* The driver has copied pageable memory when it returns, but for the last part of it. */
static int copy_large(const struct rex_copy *copy, void *stream)
{
    if (copy_by_threads(copy))
        return 0;
    uint64_t begin = rex_trace_clock();
    int result = copy_by_driver(copy, stream);
    if (result == 0)
        rex_copy_driver_took(copy->size, rex_trace_clock() - begin);
    return result;
}

int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait)
{
    if (!may_wait || !is_large(copy))
        return copy_by_driver(copy, stream);
    int result = REX_CUDA(cuStreamSynchronize, stream);
    return result == 0 ? copy_large(copy, stream) : result;
}

/* ---- copies of data calls ------------------------------------------------------------------- */

static bool is_pageable(const struct rex_copy *copy)
{
    return rex_is_pageable(copy->host) && rex_is_pageable((char *)copy->host + copy->size - 1);
}

static bool do_staged_copies_pay(void)
{
    return get(&seen.small_copies) >= COPIES_THAT_PAY ||
           __atomic_add_fetch(&seen.small_copies, 1, __ATOMIC_RELAXED) >= COPIES_THAT_PAY ||
           rex_setting_read(REX_OPTION_COPY_THREADS) >= 0;
}

bool rex_copy_is_ours(const struct rex_copy *copy)
{
    if (copy->size == 0)
        return false;
    return copy->size <= CHUNK ? is_pageable(copy) && do_staged_copies_pay() : is_large(copy);
}

/* The number of copies from the first on that can be made together; SIZE: their bytes. */
static size_t count_together(const struct rex_copy *copies, size_t count, size_t *size)
{
    size_t i = 0;
    for (*size = 0; i < count; *size += copies[i++].size)
        if (copies[i].size == 0 || copies[i].size > CHUNK - *size ||
            copies[i].to_host != copies[0].to_host)
            break;
    return i;
}

/* The processor fills one piece of a staged copy while the device reads the piece before it. */
#define PIECE ((size_t)256 << 10)

static bool put_staged(const struct rex_copy *copy, unsigned char *chunk, void *stream)
{
    struct rex_copy piece = *copy;
    bool done = true;
    if (copy->to_host) {
        piece.host = chunk;
        return copy_by_driver(&piece, stream) == 0;
    }
    for (size_t at = 0; at < copy->size && done; at += piece.size) {
        piece.size = copy->size - at < PIECE ? copy->size - at : PIECE;
        piece.host = chunk + at;
        piece.device = copy->device + at;
        memcpy(piece.host, (char *)copy->host + at, piece.size);
        done = copy_by_driver(&piece, stream) == 0;
    }
    return done;
}

static bool copy_through(const struct rex_copy *copies, size_t count,
                         struct rex_launch_context *own)
{
    bool done = true;
    size_t at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        done = put_staged(&copies[i], own->staging + at, own->stream);
    done = wait(own) && done;
    at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        if (copies[i].to_host)
            memcpy(copies[i].host, own->staging + at, copies[i].size);
    return done;
}

/* The first COUNT copies, of SIZE bytes, together; a large one alone: SIZE is 0. */
static bool make_some(const struct rex_copy *copies, size_t count, size_t size)
{
    struct rex_launch_context *own;
    int ordinal = -1, entered;
    if (!find_gpu(copies[0].device, &ordinal)) {
        /* Such as the host device's. Relaxed: as above. */
        __atomic_store_n(&seen.small_copies, 0, __ATOMIC_RELAXED);
        return false;
    }
    if (rex_launch_context_take(ordinal, NULL, &own, &entered) != REX_OK)
        return false;
    bool done = size > 0
                    ? rex_launch_context_make_staging(own, size) && copy_through(copies, count, own)
                    : copy_large(copies, own->stream) == 0 && wait(own);
    rex_launch_context_give(own, entered);
    return done;
}

size_t rex_copy_some(const struct rex_copy *copies, size_t count, bool *are_made)
{
    size_t size, together = count_together(copies, count, &size);
    *are_made = copies[0].size > 0 && make_some(copies, together, size);
    return together > 0 ? together : 1;
}
