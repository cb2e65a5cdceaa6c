/*
 * instantiate.h - the driver's graph of captured commands.
 *
 * The caller has locked the graph. The functions return 0 or an error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_INSTANTIATE_H
#define REX_INTERNAL_INSTANTIATE_H

#include "queue/graph.h"

/* Make the driver's graph from the commands. */
int rex_graph_build(struct rex_graph *graph);

/* Destroy the driver's graph. */
void rex_graph_unbuild(struct rex_graph *graph);

/* Make it again if device addresses have changed. */
int rex_graph_refresh(struct rex_graph *graph);

/* Give launch NUMBER the arguments of COMMAND. */
int rex_graph_change(struct rex_graph *graph, size_t number, const struct rex_command *command);

#endif
