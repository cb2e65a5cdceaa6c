/*
 * makecopy.h - copies between host memory and a GPU. The driver makes a copy, or threads of librex
 * make it, or many small copies go together through pinned memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAKECOPY_H
#define REX_INTERNAL_MAKECOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Minimum size of a large copy in bytes. Threads make a large copy of pageable memory in chunks, if
 * rex_copy_threads_pay() returns true.
 */
#define REX_COPY_LARGE ((size_t)4 << 20)

struct rex_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
    bool is_pinned; /* librex has pinned all of `host`; rex_copy_is_ours() sets this */
};

/*
 * Puts COPY in STREAM. If MAY_WAIT is true, the call may wait for STREAM, and may let threads make
 * COPY. If MAY_WAIT is false, the driver makes COPY. Put no other command in STREAM during the
 * call, because the threads would not wait for that command. Returns 0, or an error of the driver,
 * which rex_cuda_why() describes.
 */
int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait);

/*
 * Returns true if librex may copy between the host and a GPU. Two conditions must be true: the
 * driver has the functions of REX_CUDA_QUEUES, and neither a tool nor an environment variable asks
 * libomptarget to report copies.
 */
bool rex_copies_are_allowed(void);

/*
 * Returns true if the caller should make COPY with rex_copy_some(), because that call is faster
 * than libomptarget. Sets `is_pinned` of COPY. Call this only if the driver has the functions of
 * REX_CUDA_QUEUES. The result is true for three kinds of copies:
 * - librex has pinned the host memory.
 * - COPY is large (REX_COPY_LARGE), its host memory is pageable, and rex_copy_threads() is above 0.
 * - COPY fits into a chunk (REX_STAGED_CHUNK), and its host memory is pageable. In addition, there
 *   were enough such copies before COPY, or the program has set REX_COPY_THREADS.
 */
bool rex_copy_is_ours(struct rex_copy *copy);

/*
 * Makes the first of COUNT copies between the host and libomptarget's device NUMBER. If this copy
 * is pinned or fits into a chunk (REX_STAGED_CHUNK), also makes the copies that follow. Stops
 * before the first copy for which one of these conditions is true:
 * - The copy has size 0.
 * - The copy is not pinned, and the chunk has too few free bytes for it.
 * - The copies from the first to this one include both directions, and include a copy that is not
 *   pinned.
 *
 * If the first copy has size 0, skips only this copy. Call this only if rex_copy_is_ours() has
 * returned true for each copy whose size is not 0. Returns the number of copies that the call tried
 * to make or skipped.
 *
 * *ARE_MADE is true if these copies are complete. *ARE_MADE is false if the first copy has size 0,
 * the memory is not on a GPU, or a call failed. In these cases the caller must let libomptarget
 * make all of these copies, because each may be incomplete. If the failure is permanent,
 * libomptarget also fails.
 */
size_t rex_copy_some(const struct rex_copy *copies, size_t count, int number, bool *are_made);

/*
 * rex_copy_large_took() records the time of a large copy of SIZE bytes. BY_THREADS is false if the
 * driver made the copy. rex_copy_threads_pay() compares the recorded times, and returns true if
 * threads should make a large copy of SIZE bytes.
 */
void rex_copy_large_took(bool by_threads, size_t size, uint64_t nanoseconds);
bool rex_copy_threads_pay(size_t size);

#endif
