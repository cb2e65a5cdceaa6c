/*
 * graph.c - graphs: captured commands that are launched again.
 *
 * The functions are those of rex/queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/graph.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "module/librarymodule.h"
#include "omp/present.h"
#include "omp/unfinished.h"
#include "queue/capture.h"
#include "queue/instantiate.h"
#include "queue/queuestate.h"
#include "queue/queuetrace.h"

static void free_graph(struct rex_graph *graph)
{
    rex_graph_unbuild(graph);
    for (size_t i = 0; i < graph->launches; i++)
        rex_library_drop(graph->command[graph->launch[i]].launch.module);
    for (size_t i = 0; i < graph->count; i++)
        free(graph->owned[i]);
    free(graph->command);
    free(graph->owned);
    free(graph->launch);
    rex_arguments_free(&graph->gpu.arguments);
    pthread_mutex_destroy(&graph->lock);
    free(graph);
}

static struct rex_graph *new_graph(const struct rex_queue *queue)
{
    static uint64_t count;
    struct rex_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        rex_fail_memory(sizeof *graph, "a graph");
        return NULL;
    }
    pthread_mutex_init(&graph->lock, NULL);
    /* Relaxed: the number only has to be different for each graph. */
    graph->number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    graph->immediate = queue->immediate;
    graph->forks = queue->forks;
    graph->gpu.number = queue->gpu.number;
    graph->gpu.ordinal = queue->gpu.ordinal;
    graph->gpu.context = queue->gpu.context;
    graph->gpu.flags = queue->gpu.flags;
    graph->gpu.remember = queue->gpu.remember;
    return graph;
}

/* ---- begin and end --------------------------------------------------------------------------- */

int rex_graph_begin(struct rex_queue *queue)
{
    int result = rex_queue_enter(queue, "rex_graph_begin");
    if (result != REX_OK)
        return result;
    struct rex_graph *graph = NULL;
    if (queue->capture != NULL)
        result = rex_fail(REX_EINVAL, "rex_graph_begin: queue \"%s\" is being captured already",
                          queue->name);
    else if ((graph = new_graph(queue)) == NULL)
        result = REX_ENOMEM;
    if (graph != NULL)
        rex_capture_begin(graph, queue);
    rex_unlock(&queue->lock);
    return result;
}

int rex_graph_end(struct rex_graph **graph, struct rex_queue *queue)
{
    int result = graph != NULL
                     ? rex_queue_enter(queue, "rex_graph_end")
                     : rex_fail(REX_EINVAL, "rex_graph_end: there is no place for the graph");
    if (result != REX_OK)
        return result;
    struct rex_graph *made = queue->capture;
    bool began = made != NULL && made->queue[0] == queue;
    if (began)
        queue->capture = NULL;
    rex_unlock(&queue->lock);
    if (!began)
        return rex_fail(REX_EINVAL, "rex_graph_end: queue \"%s\" has not begun a capture",
                        queue->name);
    rex_capture_end(made);
    if (!made->immediate)
        result = rex_graph_build(made);
    if (result == REX_OK)
        *graph = made;
    else
        free_graph(made);
    return result;
}

void rex_graph_destroy(struct rex_graph *graph)
{
    if (graph != NULL)
        free_graph(graph);
}

size_t rex_graph_launches(const struct rex_graph *graph)
{
    if (graph == NULL)
        rex_fail(REX_EINVAL, "rex_graph_launches: the graph is NULL");
    return graph != NULL ? graph->launches : 0;
}

/* ---- launch and change ----------------------------------------------------------------------- */

static int do_all(const struct rex_graph *graph, struct rex_queue *queue)
{
    int result = REX_OK;
    for (size_t i = 0; i < graph->count && result == REX_OK; i++)
        result = rex_queue_do(queue, &graph->command[i]);
    return result;
}

static int launch_in_stream(struct rex_graph *graph, struct rex_queue *queue)
{
    if (rex_queue_refuse_lost(queue) != REX_OK)
        return REX_ECUDA;
    int entered = rex_context_enter(graph->gpu.context), result = REX_OK;
    if (entered < 0)
        return rex_fail(REX_ECUDA, "rex_graph_launch: %s", rex_cuda_why());
    if (!graph->gpu.remember || graph->stale || rex_mapping_now() != graph->generation)
        result = rex_graph_refresh(graph);
    if (result == REX_OK && rex_queue_submit_graph(queue, graph->executable, graph->launches) != 0)
        result =
            rex_fail(REX_ECUDA, "a graph of %zu launches: %s", graph->launches, rex_cuda_why());
    if (result == REX_ECUDA)
        result = rex_queue_check_lost(queue, result);
    rex_context_leave(entered);
    if (result != REX_OK)
        return result;
    rex_queue_set_busy(queue);
    rex_addresses_use_all(&queue->gpu.addresses, &graph->gpu.addresses);
    rex_kernel_list_add_all(&queue->kernels, &graph->kernels);
    return REX_OK;
}

static int launch(struct rex_graph *graph, struct rex_queue *queue)
{
    if (queue->capture != NULL)
        return rex_fail(REX_EINVAL, "rex_graph_launch: queue \"%s\" is being captured",
                        queue->name);
    if (queue->gpu.number != graph->gpu.number || queue->immediate != graph->immediate)
        return rex_fail(
            REX_EINVAL,
            "rex_graph_launch: queue \"%s\" is of device %d, and the graph of device %d",
            queue->name, queue->gpu.number, graph->gpu.number);
    if (graph->count == 0)
        return REX_OK;
    return graph->immediate ? do_all(graph, queue) : launch_in_stream(graph, queue);
}

int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue)
{
    int result = graph != NULL ? rex_queue_enter(queue, "rex_graph_launch")
                               : rex_fail(REX_EINVAL, "rex_graph_launch: the graph is NULL");
    if (result != REX_OK)
        return result;
    rex_lock(&graph->lock);
    result = launch(graph, queue);
    rex_unlock(&graph->lock);
    if (result == REX_OK)
        result = rex_queue_sync_if_stepwise(queue);
    rex_unlock(&queue->lock);
    return result;
}

static int set_arguments(struct rex_graph *graph, size_t number, const struct rex_map *map)
{
    size_t at = graph->launch[number];
    struct rex_command command = graph->command[at];
    command.launch.map = *map;
    void *memory = NULL;
    int result = rex_capture_check(graph, &command);
    if (result == REX_OK)
        result = rex_capture_own_map(&command, &memory);
    if (result != REX_OK)
        return result;
    if (!graph->immediate)
        result = rex_graph_change(graph, number, &command);
    if (result == REX_OK) {
        free(graph->owned[at]);
        graph->owned[at] = memory;
        graph->command[at] = command;
    } else
        free(memory);
    return result;
}

int rex_graph_set_args(struct rex_graph *graph, size_t number, const struct rex_map *map)
{
    static const struct rex_map nothing;
    if (graph == NULL || number >= graph->launches)
        return graph == NULL
                   ? rex_fail(REX_EINVAL, "rex_graph_set_args: the graph is NULL")
                   : rex_fail(REX_EINVAL, "rex_graph_set_args: launch %zu, and the graph has %zu",
                              number, graph->launches);
    if (!graph->immediate && graph->forks != rex_forks())
        return rex_fail(REX_EFORK,
                        "rex_graph_set_args: the graph was made in this process's parent");
    rex_lock(&graph->lock);
    int result = set_arguments(graph, number, map != NULL ? map : &nothing);
    rex_unlock(&graph->lock);
    return result;
}
