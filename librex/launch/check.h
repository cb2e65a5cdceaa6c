/*
 * check.h - completes the grid of a launch, and finds errors in a launch before libomptarget or the
 * driver makes the launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHECK_H
#define REX_INTERNAL_CHECK_H

#include "launch/request.h"

/* ---- the grid -------------------------------------------------------------------------------- */

/*
 * Replaces each number of GRID that is 0:
 * - The threads in x become 128.
 * - The teams in x become as many as TRIP_COUNT iterations need, rounded up to whole clusters. They
 *   become 128 if TRIP_COUNT is 0, or exceeds INT64_MAX.
 * - The teams and threads in y and z become 1.
 *
 * If a number in x exceeds INT32_MAX, and KERNEL is not NULL, fails with REX_EINVAL. The message
 * names KERNEL. In any other case returns 0.
 */
int rex_grid_complete(struct rex_grid *grid, uint64_t trip_count, const char *kernel);

/* The flags that a program may set in a launch. */
#define REX_LAUNCH_FLAGS \
    (REX_LAUNCH_NOWAIT | REX_LAUNCH_STRICT | REX_LAUNCH_GRID_STRIDE | REX_LAUNCH_COOPERATIVE)

/*
 * Returns LAUNCH with a complete grid, and without REX_LAUNCH_GRID_STRIDE. If LAUNCH has 0 teams in
 * x, the grid has at most MOST blocks. If MOST is 0, the maximum is the number of blocks whose
 * threads a GPU can run at one time.
 */
struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch, uint64_t most);

/*
 * Returns REX_EINVAL if LAUNCH has the flag REX_LAUNCH_STRICT, and 0 teams or 0 threads in x.
 * Otherwise returns 0. The message begins with WHAT.
 */
int rex_check_strict(const struct rex_launch_config *launch, const char *what);

/* Checks GRID against the limits of GPUs and of the kernel of TARGET. Returns 0 or an error. */
int rex_check_limits(const struct rex_target *target, const struct rex_grid *grid);

/*
 * Checks GRID for a launch by libomptarget: against the limits of the LLVM release, of RULE (the
 * release's rule for the form of the kernel) and of rex_check_limits(). Returns 0 or an error.
 */
int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct rex_grid *grid);

/* ---- rows and parameters --------------------------------------------------------------------- */

/*
 * Finds the form of the kernel, plain or env (omp/release.h). ROWS is the number of rows of MAP
 * that are arguments of the kernel. Stores the form in the kernel and in *FORM. Returns 0 or an
 * error.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, const struct rex_map *map,
                   enum rex_kernel_form *form);

/* Counts the rows of MAP that are arguments of the kernel, and calls rex_check_form(). */
int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form);

/*
 * Checks the rows of REQUEST against the parameters of the kernel. Stores the form in the kernel
 * and in *FORM. If there is no error, stores the number of rows in the kernel, for
 * rex_check_packet(). Returns 0 or an error.
 */
int rex_check_parameters(const struct rex_request *request, enum rex_kernel_form *form);

/*
 * Call this before libomptarget launches a packet of the program. If the last checked launch of the
 * kernel had another number of rows, calls rex_check_parameters(). Sets *FORM to the form of the
 * kernel. Returns 0 or an error.
 */
int rex_check_packet(const struct rex_request *request, enum rex_kernel_form *form);

#endif
