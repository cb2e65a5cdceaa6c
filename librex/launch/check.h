/*
 * check.h - completes the grid of a launch, and finds errors before libomptarget or the driver
 * launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHECK_H
#define REX_INTERNAL_CHECK_H

#include "launch/request.h"

/* ---- the grid -------------------------------------------------------------------------------- */

/*
 * Sets the numbers of GRID that are 0: threads are 128 in x, and 1 in y and z. Teams in x are as
 * many as TRIP_COUNT iterations need, in whole clusters. They are 128 if TRIP_COUNT is 0, or
 * negative in a packet. Returns 0, or REX_EINVAL if int32_t does not hold a number in x; the
 * message names KERNEL. If KERNEL is NULL, the numbers are not checked.
 */
int rex_grid_complete(struct rex_grid *grid, uint64_t trip_count, const char *kernel);

/* The flags of a launch that a program may set. */
#define REX_LAUNCH_FLAGS \
    (REX_LAUNCH_NOWAIT | REX_LAUNCH_STRICT | REX_LAUNCH_GRID_STRIDE | REX_LAUNCH_COOPERATIVE)

/*
 * Returns LAUNCH with a complete grid, and without REX_LAUNCH_GRID_STRIDE. If its teams in x are 0,
 * the grid has at most MOST blocks. If MOST is 0, the maximum is as many blocks as a GPU can have
 * threads for at once.
 */
struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch, uint64_t most);

/*
 * Returns REX_EINVAL if LAUNCH is strict and its teams or threads in x are 0, or else 0.
 * The message begins with WHAT.
 */
int rex_check_strict(const struct rex_launch_config *launch, const char *what);

/* Checks GRID against the limits of GPUs and of TARGET. Returns 0 or an error. */
int rex_check_limits(const struct rex_target *target, const struct rex_grid *grid);

/*
 * Checks GRID against the limits of the release, RULE and rex_check_limits(), for a launch by
 * libomptarget. Returns 0 or an error.
 */
int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct rex_grid *grid);

/* ---- rows and parameters --------------------------------------------------------------------- */

/*
 * Finds the form of the kernel, plain or env, by the number of ROWS of MAP that are arguments.
 * Stores it in the kernel. Returns 0 with the form in *FORM, or an error.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, const struct rex_map *map,
                   enum rex_kernel_form *form);

/* Counts the rows of MAP that are arguments, and calls rex_check_form(). */
int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form);

/*
 * Checks the rows against the kernel's parameters. Stores the form and the number of rows in the
 * kernel. Returns 0 with the form in *FORM, or an error.
 */
int rex_check_parameters(const struct rex_request *request, enum rex_kernel_form *form);

/*
 * Checks a packet before libomptarget launches it. Calls rex_check_parameters() if the kernel's
 * last checked launch had another number of rows. Returns 0 with the form in *FORM, or an error.
 */
int rex_check_packet(const struct rex_request *request, enum rex_kernel_form *form);

#endif
