/*
 * staging.h - large copies between ordinary memory and a GPU, by threads of librex's own.
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
    int ordinal; /* the driver's number of the GPU; found by rex_staging_suits() */
};

/*
 * Whether COPY is one for the threads: large, the host's side of it ordinary memory, of which the
 * driver knows nothing, the device's side memory of one GPU.
 */
bool rex_staging_suits(struct rex_staged_copy *copy);

/*
 * Do COPY, which suits. All that has to be done before it is done, and nothing is put before it
 * meanwhile: the threads know no order but this. True: it is done. False: some of it may be, and
 * the caller has the driver do it all; the threads were busy, or something failed, which the driver
 * will meet with itself if it stays.
 */
bool rex_staging_copy(const struct rex_staged_copy *copy);

#endif
