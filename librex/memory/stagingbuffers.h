/*
 * stagingbuffers.h - the driver's resources of a copying thread: pinned memory, and a stream on
 * each GPU.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STAGINGBUFFERS_H
#define REX_INTERNAL_STAGINGBUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

/* Bytes that are copied at a time. A quarter of that is slower by half on an H100. */
#define REX_STAGING_CHUNK ((size_t)1 << 20)

/* On one GPU. */
struct rex_staging_stream {
    void *context;  /* NULL: not retained yet */
    void *stream;   /* NULL: not created yet, like the events */
    void *event[2]; /* the last use of each chunk */
};

/* All zeros at first. One thread uses it at a time. */
struct rex_staging_buffers {
    void *chunk[2]; /* pinned */
    struct rex_staging_stream stream[REX_CUDA_DEVICES_MAX];
};

/*
 * Create the missing resources of OWN on GPU ORDINAL and enter its context. The caller calls
 * rex_context_leave() in any case. False: a resource is missing; rex_cuda_why() says why.
 */
bool rex_staging_buffers_enter(struct rex_staging_buffers *own, int ordinal, int *entered);

/*
 * Release OWN's chunks, and its stream on GPU ORDINAL, whose context is current. Do so if the
 * device may still use the chunks: a second copy through them would be wrong.
 */
void rex_staging_buffers_discard(struct rex_staging_buffers *own, int ordinal);

/* Release all resources of OWN. */
void rex_staging_buffers_close(struct rex_staging_buffers *own);

#endif
