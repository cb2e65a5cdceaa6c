/*
 * copylane.h - what a thread that copies has of the driver: pinned memory, and on each GPU a
 * stream.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPYLANE_H
#define REX_INTERNAL_COPYLANE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/driver.h"

/* Bytes that go at a time. On an H100 a quarter of it is slower by half. */
#define REX_COPY_CHUNK ((size_t)1 << 20)

/* On one GPU. */
struct rex_copy_route {
    void *context;  /* NULL: nothing yet; it is kept */
    void *stream;   /* NULL: none yet, */
    void *event[2]; /* nor these: the last use of each chunk */
};

/* All zeros to begin with. For one thread at a time. */
struct rex_copy_lane {
    void *chunk[2]; /* pinned */
    struct rex_copy_route route[REX_CUDA_DEVICES_MAX];
};

/*
 * Make what LANE lacks on GPU ORDINAL and enter its context, to be left with rex_context_leave() in
 * any case. Whether it has all; if not, rex_cuda_why().
 */
bool rex_copy_lane_enter(struct rex_copy_lane *lane, int ordinal, int *entered);

/*
 * Give back LANE's chunks, and its stream on GPU ORDINAL, whose context is current: where nobody
 * can say that the device is done with the chunks, they would be read or written twice.
 */
void rex_copy_lane_discard(struct rex_copy_lane *lane, int ordinal);

/* Give back all that LANE has. */
void rex_copy_lane_close(struct rex_copy_lane *lane);

#endif
