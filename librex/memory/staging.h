/*
 * staging.h - copies between ordinary memory and a GPU: large ones by librex's threads, and many
 * small ones at once.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STAGING_H
#define REX_INTERNAL_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; the driver makes smaller copies, threads make larger ones in chunks. */
#define REX_STAGED_LEAST ((size_t)4 << 20)

struct rex_staged_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
};

/*
 * Whether threads may copy SIZE bytes at HOST. The copy must be large, the driver must not know the
 * memory, and the process must have copied much already.
 */
bool rex_staging_suits(const void *host, size_t size);

/*
 * Make COPY by threads, after all work in STREAM (NULL: no wait). No later work may be put before
 * the copy meanwhile, because the threads wait for nothing else. True: the copy is done. False: a
 * part may be copied, and the caller has the driver copy all. The copy is small, or not between
 * ordinary memory and one GPU, or the threads were busy, or a call failed. A lasting failure fails
 * the driver's copy, too.
 */
bool rex_staging_copy(const struct rex_staged_copy *copy, void *stream);

/* Most copies that are made together; their bytes together are at most one chunk. */
#define REX_STAGED_TOGETHER 64

/*
 * Make COUNT copies, all in one direction between ordinary memory and one GPU. The caller's thread
 * copies through one pinned chunk, and waits once. False: as above.
 */
bool rex_staging_copy_together(const struct rex_staged_copy *copies, size_t count);

#endif
