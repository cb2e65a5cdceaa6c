/*
 * run.h - runs the plan of a launch: copies, the kernel, the wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUN_H
#define REX_INTERNAL_RUN_H

#include "launch/plan.h"

/*
 * Number of launches by single calls of the driver before a graph is made: for launches with
 * copies, and without copies.
 */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/* Launches PLAN, and waits for the kernel and the copies. Returns 0 or an error. */
int rex_plan_run(struct rex_plan *plan);

#endif
