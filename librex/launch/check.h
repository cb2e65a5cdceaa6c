/*
 * check.h - completes the grid of a launch, and finds errors in the launch before libomptarget or
 * the driver gets it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHECK_H
#define REX_INTERNAL_CHECK_H

#include "launch/request.h"

/* ---- the grid -------------------------------------------------------------------------------- */

/*
 * Fill in the open numbers of GRID: 128 threads in x, and 1 in y and z. Teams in x are as many as
 * TRIP_COUNT iterations need; 128 if that is 0, or negative in a packet. 0, or REX_EINVAL if
 * int32_t does not hold them; the message names the KERNEL. Without its name that is not checked.
 */
int rex_grid_complete(struct rex_grid *grid, uint64_t trip_count, const char *kernel);

/* The flags that a program may set. */
#define REX_LAUNCH_FLAGS \
    (REX_LAUNCH_NOWAIT | REX_LAUNCH_STRICT | REX_LAUNCH_GRID_STRIDE | REX_LAUNCH_COOPERATIVE)

/*
 * LAUNCH, which has REX_LAUNCH_GRID_STRIDE, with a grid and without that flag: of at most MOST
 * blocks; 0: as many as a GPU keeps resident, by their threads.
 */
struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch, uint64_t most);

/* A strict launch must give its whole grid: 0 or REX_EINVAL. The message names the launch WHAT. */
int rex_check_strict(const struct rex_launch_config *launch, const char *what);

/* Compare GRID and its dynamic shared memory with what GPUs and TARGET allow: 0 or an error. */
int rex_check_limits(const struct rex_target *target, const struct rex_grid *grid);

/* The same for a launch by libomptarget, whose packet RULE describes. */
int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct rex_grid *grid);

/* ---- rows and parameters --------------------------------------------------------------------- */

/*
 * Tell whether the kernel is plain or env, by the ROWS of MAP that are arguments, and remember
 * it. Returns 0 with *FORM, or an error.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, const struct rex_map *map,
                   enum rex_kernel_form *form);

/* The same for the rows of MAP. */
int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form);

/*
 * Check the rows against the kernel's parameters. Returns 0 with the kernel's form in *FORM, or an
 * error. The form is remembered, and that this number of rows was right.
 */
int rex_check_parameters(const struct rex_request *request, enum rex_kernel_form *form);

/*
 * Check a packet before libomptarget launches it. The first one with its number of rows is also
 * checked against the kernel's parameters. Returns 0 with the kernel's form in *FORM, or an error.
 */
int rex_check_packet(const struct rex_request *request, enum rex_kernel_form *form);

#endif
