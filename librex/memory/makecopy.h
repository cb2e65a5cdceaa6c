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
 * Bytes. The driver makes smaller copies. Threads make larger ones of pageable memory, in chunks,
 * if these pay: rex_copy_threads_pay().
 */
#define REX_COPY_LARGE ((size_t)4 << 20)

struct rex_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
};

/*
 * Put COPY in STREAM: threads make it if they can and MAY_WAIT, after all work in STREAM; else the
 * driver does. No later work may be put before the copy meanwhile, because the threads wait for
 * nothing else. Returns 0, or the driver's result with rex_cuda_why().
 */
int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait);

/*
 * Whether rex_copy_some() makes such a copy faster than libomptarget: it is small or large, its
 * host memory is pageable, and enough of its kind were made by others. The driver has what queues
 * need (REX_CUDA_QUEUES).
 */
bool rex_copy_is_ours(const struct rex_copy *copy);

/*
 * Make the first of COUNT copies, or several together that go in its direction. A copy has size 0,
 * and is not made, or is ours. Returns how many; *ARE_MADE: they are complete. Otherwise a part may
 * be copied, and the caller has libomptarget copy all: the memory is not on one GPU, or a call
 * failed. A lasting failure fails that copy, too.
 */
size_t rex_copy_some(const struct rex_copy *copies, size_t count, bool *are_made);

/*
 * Notes the time of a copy of SIZE bytes, at least REX_COPY_LARGE, BY_THREADS or by the driver. The
 * times decide whether the next one goes to threads.
 */
void rex_copy_large_took(bool by_threads, size_t size, uint64_t nanoseconds);
bool rex_copy_threads_pay(size_t size);

#endif
