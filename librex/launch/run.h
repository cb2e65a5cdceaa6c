/*
 * run.h - runs the plan of a launch: copies, the kernel, the wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUN_H
#define REX_INTERNAL_RUN_H

#include "launch/plan.h"

/* Number of launches by single calls before a graph is made: with copies, and without. */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/* Launches PLAN, and waits for it. Returns 0 or an error. */
int rex_plan_run(struct rex_plan *plan);

#endif
