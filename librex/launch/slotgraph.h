/*
 * slotgraph.h - launches by the driver as graphs of three nodes: copy in, kernel, copy out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SLOTGRAPH_H
#define REX_INTERNAL_SLOTGRAPH_H

#include "launch/driversteps.h"

/* Launches by single calls before one is a graph: with copies, and of a kernel alone. */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/*
 * Put LAUNCH, whose rows are staged and arguments packed, in its slot's stream as a graph. false,
 * with nothing put there: it is no graph yet, or cannot be one.
 */
bool rex_slot_graph_launch(const struct rex_driver_launch *launch);

#endif
