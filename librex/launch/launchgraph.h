/*
 * launchgraph.h - launches as graphs of three nodes: copy in, kernel, copy out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCHGRAPH_H
#define REX_INTERNAL_LAUNCHGRAPH_H

#include "launch/pack.h"

/*
 * Bytes of the rows that one launch stages: of all rows; the end of those copied to the device;
 * begin and end of those copied back.
 */
struct rex_staged {
    size_t total, in, out_begin, out_end;
};

/* Launches by single calls before a graph is made: with copies, and of a kernel alone. */
#define REX_GRAPH_PAYS 16
#define REX_GRAPH_PAYS_ALONE 64

/*
 * Put PACKED, whose rows are STAGED and whose arguments are in CONTEXT, in its stream as a graph.
 * False: no graph is made yet, or none is possible, and nothing was put there.
 */
bool rex_launch_as_graph(struct rex_launch_context *context, const struct rex_packed *packed,
                         const struct rex_staged *staged);

#endif
