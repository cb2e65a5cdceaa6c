/*
 * run.h - runs the plan of a launch: copies the rows, launches the kernel, and waits.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUN_H
#define REX_INTERNAL_RUN_H

#include "launch/plan.h"

/*
 * A launch becomes a graph after this number of launches by single calls to the driver.
 * REX_GRAPH_PAYS is for launches with copies, and REX_GRAPH_PAYS_ALONE for launches without copies.
 */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/* Launches PLAN, and waits for the kernel and the copies. Returns 0 or an error. */
int rex_plan_run(struct rex_plan *plan);

#endif
