/*
 * offload.c - bfs's device run: two launches in each step, until a step reaches no new node.
 *
 * Look at take_steps(). The flag is one mapped integer. An update copies it to the device as 0, and
 * a second update copies it back after the second kernel may have set it. All other data stays on
 * the device.
 *
 * The host must read the flag of a step before it begins the next. In a queue (--queue) it waits
 * once in a step instead of four times. All steps make equal calls, so one graph serves all steps
 * (--graph).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>

#include "bfs.h"

REX_KERNEL(bfs_expand);
REX_KERNEL(bfs_advance);

/* A run. All pointers are host addresses. In a row they stand for the device's copies. */
struct search {
    const struct graph *graph;
    struct device_run *run;
    uint8_t *frontier; /* nodes from which the next step starts */
    uint8_t *visited;
    uint8_t *reached;  /* new nodes of this step */
    int32_t *cost;
    int32_t go_on;     /* the flag */
};

static struct rex_launch_config config_of(const struct search *search)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, search->graph->nodes);
    config.device = search->run->device;
    config.queue = search->run->ways.queue; /* NULL: wait for each launch */
    return config;
}

static int expand(struct search *search)
{
    const struct graph *graph = search->graph;
    int64_t nodes = graph->nodes;
    return REX_LAUNCH_WITH(bfs_expand, config_of(search), REX_VALUE(nodes),
                           REX_ALLOC(graph->node, nodes), REX_ALLOC(graph->target, graph->edges),
                           REX_ALLOC(search->frontier, nodes), REX_ALLOC(search->visited, nodes),
                           REX_ALLOC(search->reached, nodes), REX_ALLOC(search->cost, nodes));
}

static int advance(struct search *search)
{
    int64_t nodes = search->graph->nodes;
    return REX_LAUNCH_WITH(bfs_advance, config_of(search), REX_VALUE(nodes),
                           REX_ALLOC(search->frontier, nodes), REX_ALLOC(search->visited, nodes),
                           REX_ALLOC(search->reached, nodes), REX_ALLOC(&search->go_on, 1));
}

/* Copies the flag to the device, takes one step, and copies the flag back. */
static int step(void *context)
{
    struct search *search = context;
    REX_MAP(flag_to, REX_TO(&search->go_on, 1));
    REX_MAP(flag_from, REX_FROM(&search->go_on, 1));
    int result = update(&search->run->ways, search->run->device, &flag_to);
    if (result == 0)
        result = expand(search);
    if (result == 0)
        result = advance(search);
    return result == 0 ? update(&search->run->ways, search->run->device, &flag_from) : result;
}

/* Takes steps until one reaches no new node. @graph, if not NULL, is one captured step. */
static int take_steps(struct search *search, struct rex_graph *graph)
{
    struct ways *ways = &search->run->ways;
    int result = 0;
    do {
        search->go_on = 0;
        result = graph != NULL ? rex_graph_launch(graph, ways->queue) : step(search);
        if (result == 0)
            result = finish(ways);
        search->run->steps++;
        search->run->launches += 2;
    } while (result == 0 && search->go_on);
    return result;
}

static int search_all(struct search *search)
{
    struct rex_graph *graph = NULL;
    int result =
        search->run->ways.way == CAPTURED ? capture(&search->run->ways, step, search, &graph) : 0;
    if (result == 0)
        result = take_steps(search, graph);
    if (graph != NULL)
        rex_graph_destroy(graph);
    return result;
}

static int run_region(struct search *search)
{
    const struct graph *graph = search->graph;
    int64_t nodes = graph->nodes;
    int result;
    double began = seconds_now();
    /* If a graph has no edges, the row of 0 bytes maps nothing. */
    REX_DATA_REGION(&result, search->run->device, REX_TO(graph->node, nodes),
                    REX_TO(graph->target, graph->edges), REX_TO(search->frontier, nodes),
                    REX_TO(search->visited, nodes), REX_TO(search->reached, nodes),
                    REX_TOFROM(search->cost, nodes), REX_ALLOC(&search->go_on, 1)) {
        result = search_all(search);
    }
    search->run->seconds = seconds_now() - began;
    return result;
}

int search_on_device(const struct graph *graph, int32_t *cost, struct device_run *run)
{
    size_t nodes = (size_t)graph->nodes;
    uint8_t *books = calloc(3, nodes);
    if (books == NULL) {
        fputs("bfs: out of memory\n", stderr);
        return -1;
    }
    struct search search = {.graph = graph, .run = run, .frontier = books, .visited = books + nodes,
                            .reached = books + 2 * nodes, .cost = cost};
    run->steps = run->launches = 0;
    for (size_t i = 0; i < nodes; i++)
        cost[i] = UNREACHED;
    cost[graph->source] = 0;
    search.frontier[graph->source] = search.visited[graph->source] = 1;
    int result = open_ways(&run->ways, run->device);
    if (result == 0)
        result = run_region(&search);
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "bfs: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    free(books);
    return result;
}
