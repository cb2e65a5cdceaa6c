/*
 * makecopy.h - copies between host memory and a GPU, and who makes them: the driver, librex's
 * threads, or many small ones at once through pinned memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAKECOPY_H
#define REX_INTERNAL_MAKECOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Minimum bytes of a large copy. Threads make large copies of pageable memory, in chunks, if
 * rex_copy_threads_pay().
 */
#define REX_COPY_LARGE ((size_t)4 << 20)

struct rex_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
    bool is_pinned; /* the driver copies from or to `host` itself; rex_copy_is_ours() sets it */
};

/*
 * Puts COPY in STREAM. If MAY_WAIT, threads may make it, after the call has waited for STREAM;
 * otherwise the driver makes it. The caller puts no other work in STREAM during the call, because
 * the threads would not wait for it. Returns 0 or a CUresult that is noted.
 */
int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait);

/*
 * Returns true if librex may make copies between the host and a GPU: the driver has the functions
 * of REX_CUDA_QUEUES, and libomptarget need not report the copies.
 */
bool rex_copies_are_allowed(void);

/*
 * Returns true if rex_copy_some() makes COPY faster than libomptarget. Either librex has pinned its
 * host memory. Or that is pageable, COPY is small or large, and librex has left enough such copies
 * to others before. The driver has the functions of REX_CUDA_QUEUES.
 */
bool rex_copy_is_ours(struct rex_copy *copy);

/*
 * Makes the first of COUNT copies between the host and libomptarget's device NUMBER. Makes small
 * and pinned copies after it together with it, if they have its direction or all are pinned. A copy
 * of size 0 is not made. rex_copy_is_ours() is true for each other copy. Returns the number of
 * copies that it tried to make. *ARE_MADE is true if they are complete.
 *
 * If *ARE_MADE is false, the memory is not on a GPU, or a call failed. The caller then has
 * libomptarget make all of these copies, since a part may be missing. If the failure lasts,
 * libomptarget fails, too.
 */
size_t rex_copy_some(const struct rex_copy *copies, size_t count, int number, bool *are_made);

/*
 * Notes the time of a large copy of SIZE bytes, BY_THREADS or by the driver. By these times
 * rex_copy_threads_pay() returns true if threads should make a large copy of SIZE bytes.
 */
void rex_copy_large_took(bool by_threads, size_t size, uint64_t nanoseconds);
bool rex_copy_threads_pay(size_t size);

#endif
