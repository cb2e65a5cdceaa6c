/*
 * staging.c - copies between ordinary memory and a GPU: large ones by threads of librex's own, and
 * many small ones at once.
 *
 * The driver copies memory that is not pinned through buffers of its own with one thread: 9 to 14
 * GB/s on an H100, of 55. Threads that have two pinned buffers and a stream each, and copy one
 * chunk while the device copies the other, reach 25 to 39. The driver is better at a small
 * copy, and at all that it knows: pinned, managed and device memory is nothing that librex reads
 * itself. For each small copy it waits, though: many go through one chunk, and are waited for once.
 *
 * What fails here fails no copy. The driver is asked to do it all again, and what it says counts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/staging.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "cuda/pinned.h"
#include "memory/copythreads.h"
#include "memory/stagingbuffers.h"

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

/* One copy, as the threads share it. */
struct job {
    struct rex_staged_copy copy;
    int ordinal;   /* the driver's number of the GPU */
    size_t next;   /* chunk that nobody has begun */
    unsigned able; /* threads that had all that they need */
    bool said, failed;
    char why[256]; /* the first failure */
};

/* Each is used by one thread at a time: its own, or who has taken the threads. */
static struct rex_staging_buffers buffers[REX_COPY_THREADS_MOST];

static void say_why(struct job *job)
{
    if (!__atomic_exchange_n(&job->said, true, __ATOMIC_ACQ_REL))
        snprintf(job->why, sizeof job->why, "%s", rex_cuda_why());
}

/* ---- the end of it --------------------------------------------------------------------------- */

static bool is_release_wanted;

/* The threads may be at work: then who has taken them sees to it. */
static void release_if_wanted(void)
{
    while (__atomic_load_n(&is_release_wanted, __ATOMIC_ACQUIRE) && rex_copy_threads_take()) {
        if (__atomic_exchange_n(&is_release_wanted, false, __ATOMIC_ACQ_REL))
            for (size_t i = 0; i < REX_COPY_THREADS_MOST; i++)
                rex_staging_buffers_close(&buffers[i]);
        rex_copy_threads_give();
    }
}

/* Nobody in librex needs a context any more. */
static void release(void)
{
    __atomic_store_n(&is_release_wanted, true, __ATOMIC_RELEASE);
    release_if_wanted();
}

/* ---- when it pays ---------------------------------------------------------------------------- */

/*
 * The first copy of each kind waits for pinned memory: 8 ms for the threads, 1.5 ms for one chunk,
 * measured on an H100. Until the driver and libomptarget have taken as long for what they were left
 * these go on, so that a program that copies little is no slower.
 */
#define BYTES_THAT_PAY ((size_t)128 << 20)
#define WAITS_THAT_PAY ((size_t)200)

static size_t bytes_left_to_driver, waits_left_to_runtime;

/* What pays is counted no more: BEFORE is what was left to others, and each of it once. */
static bool pays(size_t *before, size_t more, size_t enough)
{
    /* Relaxed: a number of its own. Who chooses threads wants them from the start. */
    return rex_setting_copy_threads() >= 0 || __atomic_load_n(before, __ATOMIC_RELAXED) >= enough ||
           __atomic_add_fetch(before, more, __ATOMIC_RELAXED) >= enough;
}

/* ---- one thread ------------------------------------------------------------------------------ */

struct piece {
    size_t at, size;
};

/* The next piece of the copy; false: there is none left, or another thread has failed. */
static bool take_piece(struct job *job, struct piece *piece)
{
    /* Relaxed: a piece is anybody's; bytes are the business of the driver and of the job's end. */
    piece->at = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED) * REX_STAGING_CHUNK;
    /* Relaxed: as above; who misses a failure copies a piece more. */
    if (piece->at >= job->copy.size || __atomic_load_n(&job->failed, __ATOMIC_RELAXED))
        return false;
    size_t left = job->copy.size - piece->at;
    piece->size = left < REX_STAGING_CHUNK ? left : REX_STAGING_CHUNK;
    return true;
}

/* A chunk is filled while the device reads the other. */
static bool copy_to_device(struct job *job, const struct rex_staging_buffers *own,
                           const struct rex_staging_stream *on)
{
    struct piece piece;
    for (size_t i = 0; take_piece(job, &piece); i++) {
        void *chunk = own->chunk[i % 2], *event = on->event[i % 2];
        if (i >= 2 && REX_CUDA(cuEventSynchronize, event) != 0)
            return false;
        memcpy(chunk, (char *)job->copy.host + piece.at, piece.size);
        if (REX_CUDA(cuMemcpyHtoDAsync, job->copy.device + piece.at, chunk, piece.size,
                     on->stream) != 0 ||
            REX_CUDA(cuEventRecord, event, on->stream) != 0)
            return false;
    }
    return true;
}

/* What the device has put, or will, into chunk I is the host's PIECE. */
static bool empty_chunk(const struct job *job, const struct rex_staging_buffers *own,
                        const struct rex_staging_stream *on, size_t i, const struct piece *piece)
{
    if (REX_CUDA(cuEventSynchronize, on->event[i % 2]) != 0)
        return false;
    memcpy((char *)job->copy.host + piece->at, own->chunk[i % 2], piece->size);
    return true;
}

/* A chunk is emptied while the device fills the other. */
static bool copy_from_device(struct job *job, const struct rex_staging_buffers *own,
                             const struct rex_staging_stream *on)
{
    struct piece piece, last = {0, 0};
    size_t i = 0;
    for (; take_piece(job, &piece); i++) {
        if (REX_CUDA(cuMemcpyDtoHAsync, own->chunk[i % 2], job->copy.device + piece.at, piece.size,
                     on->stream) != 0 ||
            REX_CUDA(cuEventRecord, on->event[i % 2], on->stream) != 0 ||
            (i > 0 && !empty_chunk(job, own, on, i - 1, &last)))
            return false;
        last = piece;
    }
    return i == 0 || empty_chunk(job, own, on, i - 1, &last);
}

static void copy_pieces(struct job *job, struct rex_staging_buffers *own)
{
    const struct rex_staging_stream *on = &own->stream[job->ordinal];
    bool done = job->copy.to_host ? copy_from_device(job, own, on) : copy_to_device(job, own, on);
    if (!done)
        say_why(job);
    bool quiet = REX_CUDA(cuStreamSynchronize, on->stream) == 0;
    if (!quiet) {
        say_why(job);
        rex_staging_buffers_discard(own, job->ordinal);
    }
    /* Relaxed: read by other threads to stop early, and by the caller after the job's end. */
    if (!done || !quiet)
        __atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
}

/* A thread that lacks something leaves the work to the others. */
static void work(unsigned number, void *argument)
{
    struct job *job = argument;
    int entered;
    if (rex_staging_buffers_enter(&buffers[number], job->ordinal, &entered)) {
        /* Relaxed: read after the job's end. */
        __atomic_fetch_add(&job->able, 1, __ATOMIC_RELAXED);
        copy_pieces(job, &buffers[number]);
    } else
        say_why(job);
    rex_context_leave(entered);
}

/* ---- a copy ---------------------------------------------------------------------------------- */

static bool find_gpu(uint64_t address, int *ordinal)
{
    return rex_driver.cuPointerGetAttribute(ordinal, POINTER_DEVICE_ORDINAL, address) == 0 &&
           *ordinal >= 0 && *ordinal < REX_CUDA_DEVICES_MAX;
}

bool rex_staging_suits(const void *host, size_t size)
{
    return size >= REX_STAGED_LEAST && rex_copy_threads() > 0 && rex_cuda_devices() > 0 &&
           rex_cuda_need(REX_CUDA_QUEUES) == 0 && rex_is_ordinary_memory_now(host) &&
           rex_is_ordinary_memory_now((const char *)host + size - 1) &&
           pays(&bytes_left_to_driver, size, BYTES_THAT_PAY);
}

/* Whether the device's side of COPY is memory of one GPU, *ORDINAL. */
static bool is_of_one_gpu(const struct rex_staged_copy *copy, int *ordinal)
{
    int last = -1;
    return find_gpu(copy->device, ordinal) && find_gpu(copy->device + copy->size - 1, &last) &&
           last == *ordinal;
}

static bool copy_by_threads(const struct rex_staged_copy *copy, int ordinal)
{
    struct job job = {.copy = *copy, .ordinal = ordinal};
    size_t chunks = (copy->size - 1) / REX_STAGING_CHUNK + 1;
    unsigned threads = rex_copy_threads();
    rex_copy_threads_run(chunks < threads ? (unsigned)chunks : threads, work, &job);
    bool done = job.able > 0 && !job.failed;
    if (!done)
        rex_log(REX_LOG_INFO, "%zu bytes were not copied by threads, but by the driver: %s",
                copy->size, job.said ? job.why : "no thread could be started");
    return done;
}

/* ---- many small ones ------------------------------------------------------------------------- */

static bool is_put(const struct rex_staged_copy *copy, void *chunk, void *stream)
{
    if (copy->to_host)
        return REX_CUDA(cuMemcpyDtoHAsync, chunk, copy->device, copy->size, stream) == 0;
    memcpy(chunk, copy->host, copy->size);
    return REX_CUDA(cuMemcpyHtoDAsync, copy->device, chunk, copy->size, stream) == 0;
}

static bool copy_through(const struct rex_staged_copy *copies, size_t count,
                         struct rex_staging_buffers *own, int ordinal)
{
    char *chunk = own->chunk[0];
    void *stream = own->stream[ordinal].stream;
    bool done = true;
    size_t at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        done = is_put(&copies[i], chunk + at, stream);
    if (REX_CUDA(cuStreamSynchronize, stream) != 0) {
        rex_staging_buffers_discard(own, ordinal);
        return false;
    }
    at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        if (copies[i].to_host)
            memcpy(copies[i].host, chunk + at, copies[i].size);
    return done;
}

static bool copy_together(const struct rex_staged_copy *copies, size_t count, int ordinal)
{
    int entered;
    bool done = rex_staging_buffers_enter(&buffers[0], ordinal, &entered) &&
                copy_through(copies, count, &buffers[0], ordinal);
    rex_context_leave(entered);
    return done;
}

/* ---- either ---------------------------------------------------------------------------------- */

/* What is kept of contexts lasts as long as others of librex keep one. */
static bool take(void)
{
    if (!rex_copy_threads_take())
        return false;
    rex_context_join(release);
    return true;
}

static void give(void)
{
    rex_copy_threads_give();
    rex_context_unhold();
    release_if_wanted();
}

bool rex_staging_copy_together(const struct rex_staged_copy *copies, size_t count)
{
    int ordinal = -1;
    if (!pays(&waits_left_to_runtime, count - 1, WAITS_THAT_PAY) ||
        !find_gpu(copies[0].device, &ordinal) || !take())
        return false;
    bool done = copy_together(copies, count, ordinal);
    give();
    return done;
}

bool rex_staging_copy(const struct rex_staged_copy *copy, void *stream)
{
    int ordinal = -1;
    if (!rex_staging_suits(copy->host, copy->size) || !is_of_one_gpu(copy, &ordinal) ||
        (stream != NULL && rex_driver.cuStreamSynchronize(stream) != 0) || !take())
        return false;
    bool done = copy_by_threads(copy, ordinal);
    give();
    return done;
}
