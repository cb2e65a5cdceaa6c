/*
 * run.h - runs the plan of a launch: copies, the kernel, the wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUN_H
#define REX_INTERNAL_RUN_H

#include "launch/plan.h"

/* Launches by single calls before a graph is made: with copies, and of a kernel alone. */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/* Launch as PLAN says, and wait: 0 or an error. */
int rex_plan_run(struct rex_plan *plan);

#endif
