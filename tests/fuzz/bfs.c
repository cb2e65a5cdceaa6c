/* bfs.c - graphs that bfs reads. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bfs/bfs.h"

#include "fuzz.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct graph graph;
    if (read_graph(fuzz_file(0, bytes, size), &graph) != 0)
        return;
    for (int64_t i = 0; i < graph.nodes; i++)
        FUZZ_CHECK(graph.node[i].first >= 0 && graph.node[i].count >= 0 &&
                   graph.node[i].first + (int64_t)graph.node[i].count <= graph.edges);
    for (int64_t i = 0; i < graph.edges; i++)
        FUZZ_CHECK(graph.target[i] >= 0 && graph.target[i] < graph.nodes);
    free_graph(&graph);
}
