/*
 * copies.h - copies between host memory and a GPU, and who makes them: the driver, librex's
 * threads, or many small ones at once through pinned memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPIES_H
#define REX_INTERNAL_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; the driver makes smaller copies, threads make larger ones in chunks. */
#define REX_COPY_LARGE ((size_t)4 << 20)

struct rex_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
};

/*
 * Whether threads may copy SIZE bytes at HOST. The copy must be large, the memory pageable, and the
 * process must have copied much already.
 */
bool rex_copy_suits_threads(const void *host, size_t size);

/*
 * Make COPY by threads, after all work in STREAM (NULL: no wait). No later work may be put before
 * the copy meanwhile, because the threads wait for nothing else. True: the copy is done. False: a
 * part may be copied, and the caller has the driver copy all. The copy is small, or not between
 * pageable memory and one GPU, or the threads were busy, or a call failed. A lasting failure fails
 * the driver's copy, too.
 */
bool rex_copy_by_threads(const struct rex_copy *copy, void *stream);

/*
 * Put COPY in STREAM: threads make it at once if they can and MAY_WAIT, else the driver does.
 * Returns 0, or the driver's result with rex_cuda_why().
 */
int rex_copy_put(const struct rex_copy *copy, void *stream, bool may_wait);

/*
 * Make the first of COUNT copies, which are between host memory and one GPU, or several together
 * that go in its direction. Returns how many; *ARE_MADE is as the result of rex_copy_by_threads().
 * A copy of size 0 is not made.
 */
size_t rex_copy_some(const struct rex_copy *copies, size_t count, bool *are_made);

#endif
