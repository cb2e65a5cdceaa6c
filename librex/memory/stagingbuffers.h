/*
 * stagingbuffers.h - what a thread that copies has of the driver: pinned memory, and on each GPU a
 * stream.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STAGINGBUFFERS_H
#define REX_INTERNAL_STAGINGBUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

/* Bytes that go at a time. On an H100 a quarter of it is slower by half. */
#define REX_STAGING_CHUNK ((size_t)1 << 20)

/* On one GPU. */
struct rex_staging_stream {
    void *context;  /* NULL: nothing yet; it is kept */
    void *stream;   /* NULL: none yet, */
    void *event[2]; /* nor these: the last use of each chunk */
};

/* All zeros to begin with. For one thread at a time. */
struct rex_staging_buffers {
    void *chunk[2]; /* pinned */
    struct rex_staging_stream stream[REX_CUDA_DEVICES_MAX];
};

/*
 * Make what OWN lacks on GPU ORDINAL and enter its context, to be left with rex_context_leave() in
 * any case. Whether it has all; if not, rex_cuda_why().
 */
bool rex_staging_buffers_enter(struct rex_staging_buffers *own, int ordinal, int *entered);

/*
 * Give back OWN's chunks, and its stream on GPU ORDINAL, whose context is current: where nobody
 * can say that the device is done with the chunks, they would be read or written twice.
 */
void rex_staging_buffers_discard(struct rex_staging_buffers *own, int ordinal);

/* Give back all that OWN has. */
void rex_staging_buffers_close(struct rex_staging_buffers *own);

#endif
