/*
 * slotgraph.h - launches by the driver as graphs of three nodes: copy in, kernel, copy out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SLOTGRAPH_H
#define REX_INTERNAL_SLOTGRAPH_H

#include "launch/driversteps.h"

/* Launches by single calls before a graph is made: with copies, and of a kernel alone. */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/*
 * Put LAUNCH, whose rows are staged and arguments packed, in its slot's stream as a graph. False:
 * no graph is made yet, or none is possible, and nothing was put there.
 */
bool rex_slot_graph_launch(const struct rex_driver_launch *launch);

#endif
