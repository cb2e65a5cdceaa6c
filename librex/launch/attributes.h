/*
 * attributes.h - launch attributes: cooperative grids and thread block clusters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ATTRIBUTES_H
#define REX_INTERNAL_ATTRIBUTES_H

#include "launch/pack.h"
#include "launch/request.h"

/*
 * Checks that the driver and the GPU of KERNEL support the attributes of GRID, and that the GPU can
 * run GRID with these attributes. Call this while the context of the GPU is current. Returns 0 or
 * an error.
 */
int rex_attributes_check(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid);

/*
 * Sets *BLOCKS to the maximum number of blocks of KERNEL that its GPU can run at one time. GRID
 * gives the threads of a block, its dynamic memory and its cluster. Call this while the context of
 * the GPU is current. Returns 0 or an error.
 */
int rex_resident_count(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid,
                       uint64_t *blocks);

/*
 * Fails with REX_EUNSUPPORTED, because libomptarget has no launch attributes. The message says, in
 * addition, why the driver does not launch REQUEST.
 */
int rex_attributes_refuse(const struct rex_request *request);

/* Puts a launch with attributes in STREAM. rex_packed_put() calls this function. */
int rex_attributes_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                       void *stream);

#endif
