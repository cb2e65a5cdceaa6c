/*
 * copies.c - copies between host memory and a GPU, and who makes them: the driver, librex's
 * threads, or many small ones at once through pinned memory.
 *
 * On an H100 the driver copies pinned memory from its place, at 50 GB/s. It copies pageable memory
 * through its own buffers with one thread, at 9 to 14. librex's threads reach 25 to 39. Each has a
 * launch context for itself: it copies one chunk while the device copies the other. The driver is
 * faster for a single small copy. But it waits for each, so librex sends many through the pinned
 * memory of one launch context, and waits once.
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

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

#define CHUNK REX_STAGED_CHUNK

/* One copy that the threads share. */
struct job {
    struct rex_copy copy;
    int ordinal;   /* the driver's number of the GPU */
    size_t next;   /* the first chunk that no thread has begun */
    unsigned able; /* threads that had all resources */
    bool said, failed;
    char why[256]; /* the first failure */
};

static size_t bytes_left_to_driver, waits_left_to_runtime; /* atomic */

static void say_why(struct job *job)
{
    if (!__atomic_exchange_n(&job->said, true, __ATOMIC_ACQ_REL))
        snprintf(job->why, sizeof job->why, "%s", rex_cuda_why());
}

/* ---- when threads are used ------------------------------------------------------------------- */

/*
 * The first copy of each kind has to wait for pinned memory. On an H100 that is 8 ms for the
 * threads, 1.5 ms for one chunk. So the driver and libomptarget copy until they have taken as long.
 * A program that copies little is then no slower.
 */
#define BYTES_THAT_PAY ((size_t)128 << 20)
#define WAITS_THAT_PAY ((size_t)200)

/*
 * Whether librex's copy pays, because ENOUGH was left to the driver or libomptarget. Until then
 * MORE is added to *BEFORE.
 */
static bool pays(size_t *before, size_t more, size_t enough)
{
    /* Relaxed: a number of its own. A program that sets the number of threads gets them at once. */
    return rex_setting_read(REX_OPTION_COPY_THREADS) >= 0 ||
           __atomic_load_n(before, __ATOMIC_RELAXED) >= enough ||
           __atomic_add_fetch(before, more, __ATOMIC_RELAXED) >= enough;
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

bool rex_copy_suits_threads(const void *host, size_t size)
{
    return size >= REX_COPY_LARGE && rex_copy_threads() > 0 && rex_cuda_devices() > 0 &&
           rex_cuda_need(REX_CUDA_QUEUES) == 0 && rex_is_pageable_now(host) &&
           rex_is_pageable_now((const char *)host + size - 1) &&
           pays(&bytes_left_to_driver, size, BYTES_THAT_PAY);
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
    rex_copy_threads_run(chunks < threads ? (unsigned)chunks : threads, work, &job);
    bool done = job.able > 0 && !job.failed;
    if (!done)
        rex_log(REX_LOG_INFO, "%zu bytes were not copied by threads, but by the driver: %s",
                copy->size, job.said ? job.why : "no thread could be started");
    return done;
}

bool rex_copy_by_threads(const struct rex_copy *copy, void *stream)
{
    int ordinal = -1;
    if (!rex_copy_suits_threads(copy->host, copy->size) || !is_of_one_gpu(copy, &ordinal) ||
        (stream != NULL && rex_driver.cuStreamSynchronize(stream) != 0) || !rex_copy_threads_take())
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

int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait)
{
    return may_wait && rex_copy_by_threads(copy, stream) ? 0 : copy_by_driver(copy, stream);
}

/* ---- many small copies ----------------------------------------------------------------------- */

static bool is_pageable(const struct rex_copy *copy)
{
    return rex_is_pageable(copy->host) && rex_is_pageable((char *)copy->host + copy->size - 1);
}

/* The number of copies from the first on that can be made together; SIZE: their bytes. */
static size_t count_together(const struct rex_copy *copies, size_t count, size_t *size)
{
    size_t i = 0;
    for (*size = 0; i < count; *size += copies[i++].size)
        if (copies[i].size == 0 || copies[i].size > CHUNK - *size ||
            copies[i].to_host != copies[0].to_host || !is_pageable(&copies[i]))
            break;
    return i;
}

static bool is_put(const struct rex_copy *copy, void *chunk, void *stream)
{
    struct rex_copy staged = *copy;
    staged.host = chunk;
    if (!copy->to_host)
        memcpy(chunk, copy->host, copy->size);
    return copy_by_driver(&staged, stream) == 0;
}

static bool copy_through(const struct rex_copy *copies, size_t count,
                         struct rex_launch_context *own)
{
    bool done = true;
    size_t at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        done = is_put(&copies[i], own->staging + at, own->stream);
    done = wait(own) && done;
    at = 0;
    for (size_t i = 0; i < count && done; at += copies[i++].size)
        if (copies[i].to_host)
            memcpy(copies[i].host, own->staging + at, copies[i].size);
    return done;
}

/* The copies have SIZE bytes. */
static bool copy_together(const struct rex_copy *copies, size_t count, size_t size)
{
    struct rex_launch_context *own;
    int ordinal = -1, entered;
    if (!pays(&waits_left_to_runtime, count - 1, WAITS_THAT_PAY) ||
        !find_gpu(copies[0].device, &ordinal) ||
        rex_launch_context_take(ordinal, NULL, &own, &entered) != REX_OK)
        return false;
    bool done = rex_launch_context_make_staging(own, size) && copy_through(copies, count, own);
    rex_launch_context_give(own, entered);
    return done;
}

size_t rex_copy_some(const struct rex_copy *copies, size_t count, bool *are_made)
{
    size_t size, together = count_together(copies, count, &size);
    *are_made = together > 0 ? copy_together(copies, together, size)
                             : rex_copy_by_threads(&copies[0], NULL);
    return together > 0 ? together : 1;
}
