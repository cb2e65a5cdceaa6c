/*
 * bfs.c - bfs's device run in the words of OpenMP; see examples/bfs/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "../../../../examples/bfs/bfs.h"
#include "../../../../examples/common/common.h"

struct search {
    int64_t nodes, edges;
    const struct node *node;
    const int32_t *target;
    uint8_t *frontier, *visited, *reached;
    int32_t *cost;
};

static void expand(const struct search *search)
{
    int64_t nodes = search->nodes, edges = search->edges;
    const struct node *node = search->node;
    const int32_t *target = search->target;
    uint8_t *frontier = search->frontier, *visited = search->visited, *reached = search->reached;
    int32_t *cost = search->cost;
#pragma omp target teams distribute parallel for thread_limit(256) map(to : node[0 : nodes], target[0 : edges], visited[0 : nodes]) \
    map(tofrom : frontier[0 : nodes], reached[0 : nodes], cost[0 : nodes])
    for (int64_t i = 0; i < nodes; i++)
        if (frontier[i]) {
            int64_t end = (int64_t)node[i].first + node[i].count;
            frontier[i] = 0;
            for (int64_t edge = node[i].first; edge < end; edge++)
                if (!visited[target[edge]]) {
                    cost[target[edge]] = cost[i] + 1;
                    reached[target[edge]] = 1;
                }
        }
}

static void advance(const struct search *search, int32_t *go_on)
{
    int64_t nodes = search->nodes;
    uint8_t *frontier = search->frontier, *visited = search->visited, *reached = search->reached;
#pragma omp target teams distribute parallel for thread_limit(256) map(tofrom : frontier[0 : nodes], visited[0 : nodes], reached[0 : nodes]) \
    map(tofrom : go_on[0 : 1])
    for (int64_t i = 0; i < nodes; i++)
        if (reached[i]) {
            frontier[i] = 1;
            visited[i] = 1;
            reached[i] = 0;
            go_on[0] = 1;
        }
}

static void take_steps(const struct search *search, struct device_run *run)
{
    int32_t flag = 0, *go_on = &flag;
    int64_t nodes = search->nodes, edges = search->edges;
    const struct node *node = search->node;
    const int32_t *target = search->target;
    uint8_t *frontier = search->frontier, *visited = search->visited, *reached = search->reached;
    int32_t *cost = search->cost;
#pragma omp target data map(to : node[0 : nodes], target[0 : edges], frontier[0 : nodes], visited[0 : nodes], reached[0 : nodes]) \
    map(tofrom : cost[0 : nodes]) map(alloc : go_on[0 : 1])
    do {
        *go_on = 0;
#pragma omp target update to(go_on[0 : 1])
        expand(search);
        advance(search, go_on);
#pragma omp target update from(go_on[0 : 1])
        run->steps++;
        run->launches += 2;
    } while (*go_on);
}

int search_on_device(const struct graph *graph, int32_t *cost, struct device_run *run)
{
    size_t nodes = (size_t)graph->nodes;
    uint8_t *books = calloc(3, nodes);
    if (books == NULL)
        return -1;
    struct search search = {graph->nodes, graph->edges, graph->node, graph->target, books, books + nodes, books + 2 * nodes, cost};
    run->steps = run->launches = 0;
    for (size_t i = 0; i < nodes; i++)
        cost[i] = UNREACHED;
    cost[graph->source] = 0;
    search.frontier[graph->source] = search.visited[graph->source] = 1;
    double began = seconds_now();
    take_steps(&search, run);
    run->seconds = seconds_now() - began;
    free(books);
    return 0;
}
