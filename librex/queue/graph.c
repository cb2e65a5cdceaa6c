/*
 * graph.c - graphs: commands that are captured once, and launched many times.
 *
 * Implements functions of rex/queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "module/librarymodule.h"
#include "queue/instantiate.h"

/* guards `captured`, and `queue` and `lanes` of the graphs in that list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * Graphs in capture. A single store adds or removes a graph, so a child of fork finds a valid list.
 */
static struct rex_graph *captured;

static void renew_in_child(void)
{
    rex_fork_renew(&lock);
}

REX_FORK_RENEWED(12, renew_in_child);

static struct rex_pool pool = {.size = sizeof(struct rex_graph), .what = "a graph"};

static void free_graph(struct rex_graph *graph)
{
    rex_graph_unbuild(graph, &graph->made);
    for (size_t i = 0; i < graph->launches; i++) {
        rex_library_drop(graph->command[graph->launch[i]].launch.module);
        free(graph->command[graph->launch[i]].launch.memory);
    }
    free(graph->command);
    free(graph->launch);
    rex_arguments_free(&graph->gpu.arguments);
    pthread_mutex_destroy(&graph->lock);
    rex_pool_give(&pool, &graph->pooled);
}

/* ---- capture --------------------------------------------------------------------------------- */

/* Appends COMMAND to GRAPH. If COMMAND is a launch, copies its map. Returns 0 or an error. */
static int append_command(struct rex_graph *graph, struct rex_command command)
{
    if (graph->count == graph->room) {
        size_t room = graph->room > 0 ? 2 * graph->room : 64;
        struct rex_command *grown = reallocarray(graph->command, room, sizeof *grown);
        if (grown != NULL)
            graph->command = grown;
        size_t *launch = reallocarray(graph->launch, room, sizeof *launch);
        if (launch != NULL)
            graph->launch = launch;
        if (grown == NULL || launch == NULL)
            return rex_fail_memory(room * sizeof *grown, "a graph");
        graph->room = room;
    }
    if (command.kind == REX_COMMAND_LAUNCH) {
        int result = rex_command_own_map(&command);
        if (result != REX_OK)
            return result;
        graph->launch[graph->launches++] = graph->count;
        rex_library_hold(command.launch.module);
    }
    REX_ASSERT(command.lane < graph->lanes && graph->count < graph->room);
    graph->command[graph->count++] = command;
    return REX_OK;
}

int rex_capture_add(struct rex_queue *queue, const struct rex_command *command)
{
    struct rex_graph *graph = queue->capture;
    struct rex_command own = *command;
    own.lane = queue->lane;
    rex_lock(&graph->lock);
    if (command->kind == REX_COMMAND_RECORD) {
        own.event.event = NULL;
        own.event.point = graph->points;
    }
    int result = rex_command_check(graph, command);
    if (result != REX_OK)
        goto unlock;
    result = append_command(graph, own);
    if (result == REX_OK && command->kind == REX_COMMAND_RECORD) {
        struct rex_event *event = command->event.event;
        rex_lock(&event->lock);
        event->state = REX_EVENT_GRAPH;
        event->graph = graph->number;
        event->point = graph->points++;
        rex_unlock(&event->lock);
    }
unlock:
    rex_unlock(&graph->lock);
    return result;
}

bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result)
{
    rex_lock(&lock);
    /* Find the graph in which the event was recorded, among the graphs that are being captured. */
    struct rex_graph *graph = captured;
    rex_lock(&event->lock);
    while (graph != NULL && (event->state != REX_EVENT_GRAPH || graph->number != event->graph))
        graph = graph->next;
    uint32_t point = event->point;
    rex_unlock(&event->lock);
    if (queue->capture != NULL && queue->capture != graph) {
        *result =
            rex_fail(REX_EINVAL,
                     "rex_queue_wait_event: queue \"%s\" is being captured, and the event was "
                     "not recorded in the same graph",
                     queue->name);
        goto unlock;
    }
    if (graph == NULL)
        goto unlock;
    if (queue->capture == NULL) {
        if (queue->gpu.number != graph->gpu.number) {
            *result = rex_fail(
                REX_EINVAL,
                "rex_queue_wait_event: queue \"%s\" is of device %d, and the event was recorded in "
                "a graph of device %d",
                queue->name, queue->gpu.number, graph->gpu.number);
            goto unlock;
        }
        if (graph->lanes == REX_GRAPH_LANES) {
            *result = rex_fail(
                REX_EINVAL, "rex_queue_wait_event: queue \"%s\": more than %d queues in one graph",
                queue->name, REX_GRAPH_LANES);
            goto unlock;
        }
        graph->queue[graph->lanes] = queue;
        queue->lane = graph->lanes++;
        queue->capture = graph;
    }
    rex_lock(&graph->lock);
    *result = append_command(graph, (struct rex_command){.kind = REX_COMMAND_WAIT,
                                                         .lane = queue->lane,
                                                         .event = {NULL, point}});
    rex_unlock(&graph->lock);
unlock:
    rex_unlock(&lock);
    return graph != NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

int rex_graph_begin(struct rex_queue *queue)
{
    static uint64_t count;
    int result = rex_queue_enter_with(queue, "rex_graph_begin");
    if (result != REX_OK)
        return result;
    if (queue->capture != NULL) {
        result = rex_fail(REX_EINVAL, "rex_graph_begin: queue \"%s\" is being captured already",
                          queue->name);
        goto unlock;
    }
    struct rex_graph *graph = rex_pool_take(&pool);
    if (graph == NULL) {
        result = REX_ENOMEM;
        goto unlock;
    }
    pthread_mutex_init(&graph->lock, NULL);
    /* Relaxed: the number only has to be unique. */
    graph->number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    snprintf(graph->name, sizeof graph->name, "%s", queue->name);
    graph->immediate = queue->immediate;
    graph->gpu.number = queue->gpu.number;
    graph->gpu.ordinal = queue->gpu.ordinal;
    graph->gpu.context = queue->gpu.context;
    graph->gpu.flags = queue->gpu.flags;
    graph->gpu.remember = queue->gpu.remember;
    rex_lock(&lock);
    graph->queue[0] = queue;
    graph->lanes = 1;
    graph->next = captured;
    __atomic_store_n(&captured, graph, __ATOMIC_RELEASE);
    queue->capture = graph;
    queue->lane = 0;
    rex_unlock(&lock);
unlock:
    rex_unlock(&queue->lock);
    return result;
}

int rex_graph_end(struct rex_graph **graph, struct rex_queue *queue)
{
    if (graph == NULL)
        return rex_fail_null("rex_graph_end", "pointer to the graph");
    int result = rex_queue_enter(queue, "rex_graph_end");
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
    /* remove the graph from `captured`, so that no other queue joins the capture */
    rex_lock(&lock);
    struct rex_graph **at = &captured;
    while (*at != made)
        at = &(*at)->next;
    *at = made->next;
    rex_unlock(&lock);
    for (uint32_t i = 1; i < made->lanes; i++) {
        rex_lock(&made->queue[i]->lock);
        made->queue[i]->capture = NULL;
        rex_unlock(&made->queue[i]->lock);
    }
    if (!made->immediate)
        result = rex_graph_build(made);
    if (result != REX_OK) {
        free_graph(made);
        return result;
    }
    *graph = made;
    return REX_OK;
}

void rex_graph_destroy(struct rex_graph *graph)
{
    if (graph != NULL && rex_pooled_check(graph, "rex_graph_destroy", "graph") == REX_OK)
        free_graph(graph);
}

size_t rex_graph_launches(const struct rex_graph *graph)
{
    if (rex_pooled_check(graph, "rex_graph_launches", "graph") != REX_OK)
        return 0;
    return graph->launches;
}

/* ---- launch and change ----------------------------------------------------------------------- */

int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue)
{
    int result = rex_pooled_check(graph, "rex_graph_launch", "graph");
    if (result != REX_OK)
        return result;
    result = rex_queue_enter_with(queue, "rex_graph_launch");
    if (result != REX_OK)
        return result;
    rex_lock(&graph->lock);
    if (queue->capture != NULL) {
        result = rex_queue_refuse_captured(queue, "rex_graph_launch");
        goto unlock;
    }
    if (queue->gpu.number != graph->gpu.number || queue->immediate != graph->immediate) {
        result =
            rex_fail(REX_EINVAL,
                     "rex_graph_launch: queue \"%s\" is of device %d, and the graph of device %d",
                     queue->name, queue->gpu.number, graph->gpu.number);
        goto unlock;
    }
    if (graph->count > 0 && !graph->immediate)
        result =
            rex_enqueue(queue, &(struct rex_command){.kind = REX_COMMAND_GRAPH, .graph = graph});
    for (size_t i = 0; graph->immediate && i < graph->count && result == REX_OK; i++)
        result = rex_enqueue(queue, &graph->command[i]);
unlock:
    rex_unlock(&graph->lock);
    return rex_queue_leave(queue, result);
}

int rex_graph_set_args(struct rex_graph *graph, size_t number, const struct rex_map *map)
{
    static const struct rex_map nothing;
    struct rex_packed packed;
    int result = rex_pooled_check(graph, "rex_graph_set_args", "graph");
    if (result != REX_OK)
        return result;
    if (number >= graph->launches)
        return rex_fail(
            REX_EINVAL,
            "rex_graph_set_args: launch %zu does not exist (launches in the graph: %zu)", number,
            graph->launches);
    if (!graph->immediate && graph->pooled.forks != rex_forks())
        return rex_fail(REX_EFORK,
                        "rex_graph_set_args: the graph was made in this process's parent");
    rex_lock(&graph->lock);
    struct rex_command *old = &graph->command[graph->launch[number]], command = *old;
    command.launch.map = map != NULL ? *map : nothing;
    result = rex_command_check(graph, &command);
    if (result != REX_OK)
        goto unlock;
    result = rex_command_own_map(&command);
    if (result != REX_OK)
        goto unlock;
    if (!graph->immediate) {
        int entered = rex_context_enter(graph->gpu.context);
        if (entered < 0) {
            result = rex_fail(
                REX_ECUDA,
                "a launch in a graph of queue \"%s\": the context of GPU %d cannot be used: %s",
                graph->name, graph->gpu.ordinal, rex_cuda_why());
            goto free_map;
        }
        result = rex_pack_launch(&graph->gpu, command.launch.module, &command.launch.description,
                                 &command.launch.map, &packed);
        if (result == REX_OK &&
            rex_packed_set(&packed, &graph->gpu.arguments, graph->made.executable,
                           graph->made.launch[number].node) != 0)
            result = rex_fail(REX_ECUDA,
                              "kernel \"%.*s\" in a graph: its arguments could not be set: %s",
                              REX_KERNEL_NAME(packed.kernel->name), rex_cuda_why());
        rex_context_leave(entered);
        if (result != REX_OK)
            goto free_map;
    }
    free(old->launch.memory);
    *old = command;
    goto unlock;
free_map:
    free(command.launch.memory);
unlock:
    rex_unlock(&graph->lock);
    return result;
}
