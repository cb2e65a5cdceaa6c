/*
 * ways.c - see ways.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "ways.h"

int open_ways(struct ways *ways, int device)
{
    return ways->way == WAITING ? 0 : rex_queue_create(&ways->queue, device, "steps", 0);
}

void close_ways(struct ways *ways)
{
    rex_queue_destroy(ways->queue); /* ignores NULL */
    ways->queue = NULL;
}

int update(const struct ways *ways, int device, const struct rex_map *map)
{
    return ways->queue != NULL ? rex_queue_update(ways->queue, map) : rex_data_update(device, map);
}

int finish(const struct ways *ways)
{
    return ways->queue != NULL ? rex_queue_sync(ways->queue) : 0;
}

int capture(struct ways *ways, steps_function *steps, void *context, struct rex_graph **graph)
{
    double began = seconds_now();
    int result = rex_graph_begin(ways->queue);
    if (result != 0)
        return result;
    result = steps(context);
    int ended = rex_graph_end(graph, ways->queue); /* a capture must end, also after an error */
    if (result != 0 && ended == 0)
        rex_graph_destroy(*graph);
    ways->making += seconds_now() - began;
    return result != 0 ? result : ended;
}

static int take_as_graph(struct ways *ways, steps_function *steps, void *context)
{
    struct rex_graph *graph;
    int result = capture(ways, steps, context, &graph);
    if (result != 0)
        return result;
    result = rex_graph_launch(graph, ways->queue);
    if (result == 0)
        result = finish(ways);
    double began = seconds_now();
    rex_graph_destroy(graph);
    ways->making += seconds_now() - began;
    return result;
}

int take(struct ways *ways, steps_function *steps, void *context)
{
    if (ways->way == CAPTURED)
        return take_as_graph(ways, steps, context);
    int result = steps(context);
    return result == 0 ? finish(ways) : result;
}

void print_ways(const struct ways *ways)
{
    if (ways->way == QUEUED)
        print_line("queue", "the host did not wait for each launch");
    else if (ways->way == CAPTURED)
        print_line("graph", "making and freeing it took %.6f s of the run", ways->making);
}
