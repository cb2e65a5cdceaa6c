/*
 * staging.h - copies between ordinary memory and a GPU: large ones by threads of librex's own, and
 * many small ones at once.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STAGING_H
#define REX_INTERNAL_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller copies are the driver's; larger ones go in chunks. In bytes. */
#define REX_STAGED_LEAST ((size_t)4 << 20)

struct rex_staged_copy {
    void *host;
    uint64_t device;
    size_t size;
    bool to_host;
};

/*
 * Whether SIZE bytes at HOST may be for the threads: many, of memory that the driver knows not, and
 * not the first of the process.
 */
bool rex_staging_suits(const void *host, size_t size);

/*
 * Do COPY by threads, once all that is in STREAM is done; NULL: nothing has to be waited for. The
 * threads know no other order: nothing is put before the copy meanwhile. True: it is done. False:
 * some of it may be, and the caller has the driver do it all: the copy is small, or not between
 * ordinary memory and one GPU, the threads were busy, or something failed, which the driver will
 * meet with itself if it stays.
 */
bool rex_staging_copy(const struct rex_staged_copy *copy, void *stream);

/* Of these together no more than a chunk is copied at once, and no more than so many. */
#define REX_STAGED_TOGETHER 64

/*
 * Do COUNT copies, all in one direction between ordinary memory and one GPU, by the caller through
 * one pinned chunk, with one wait for all. False: as above.
 */
bool rex_staging_copy_together(const struct rex_staged_copy *copies, size_t count);

#endif
