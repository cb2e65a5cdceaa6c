/*
 * capture.c - adds commands to a graph, and queues to its capture.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/log.h"
#include "cuda/context.h"
#include "module/librarymodule.h"
#include "queue/command.h"
#include "queue/event.h"
#include "queue/peer.h"

/* guards the list, and which queues take part */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_graph *captured; /* graphs in capture; one word is written to change the list */

static void renew_in_child(void)
{
    rex_fork_renew(&lock);
}

REX_FORK_RENEWED(12, renew_in_child);

/* ---- memory ---------------------------------------------------------------------------------- */

static int grow(struct rex_graph *graph)
{
    size_t room = graph->room > 0 ? 2 * graph->room : 64;
    if (graph->count < graph->room)
        return REX_OK;
    struct rex_command *command = reallocarray(graph->command, room, sizeof *command);
    if (command != NULL)
        graph->command = command;
    void **owned = reallocarray(graph->owned, room, sizeof *owned);
    if (owned != NULL)
        graph->owned = owned;
    size_t *launch = reallocarray(graph->launch, room, sizeof *launch);
    if (launch != NULL)
        graph->launch = launch;
    if (command == NULL || owned == NULL || launch == NULL)
        return rex_fail_memory(room * sizeof *command, "a graph");
    graph->room = room;
    return REX_OK;
}

/* The bytes of all values that MAP points to, each beginning at a multiple of 16. */
static size_t size_of_values(const struct rex_map *map)
{
    size_t size = 0;
    for (int32_t i = 0; i < map->count; i++)
        if ((map->types[i] & REX_MAP_LITERAL) && map->sizes[i] > (int64_t)sizeof(void *))
            size += ((size_t)map->sizes[i] + 15) / 16 * 16;
    return size;
}

int rex_capture_own_map(struct rex_command *command, void **copy)
{
    struct rex_map *map = &command->launch.map;
    size_t rows = (size_t)map->count, columns = rows * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    size_t size = columns + size_of_values(map) + 1;
    char *memory = malloc(size);
    if (memory == NULL)
        return rex_fail_memory(size, "a launch in a graph");
    char *values = memory + columns; /* a multiple of 16 */
    struct rex_map own = {
        map->count, (void **)(void *)memory, (void **)(void *)memory + rows, NULL, NULL, NULL,
        NULL};
    own.sizes = (int64_t *)(void *)(own.begin + rows);
    own.types = own.sizes + rows;
    for (size_t i = 0; i < rows; i++) {
        own.base[i] = map->base[i];
        own.begin[i] = map->begin[i];
        own.sizes[i] = map->sizes[i];
        own.types[i] = map->types[i];
        if (!(map->types[i] & REX_MAP_LITERAL) || map->sizes[i] <= (int64_t)sizeof(void *))
            continue;
        memcpy(values, map->begin[i], (size_t)map->sizes[i]);
        own.base[i] = own.begin[i] = values;
        values += ((size_t)map->sizes[i] + 15) / 16 * 16;
    }
    *map = own;
    *copy = memory;
    return REX_OK;
}

/* ---- one command ----------------------------------------------------------------------------- */

int rex_capture_check(struct rex_graph *graph, const struct rex_command *command)
{
    struct rex_packed packed;
    if (graph->immediate)
        return rex_command_check(command, graph->gpu.number);
    if (command->kind == REX_COMMAND_COPY_PEER &&
        rex_peer_other(command, graph->gpu.number) != graph->gpu.number)
        return rex_fail(REX_EUNSUPPORTED,
                        "rex_queue_copy_peer: a graph is of device %d alone, and the copy of "
                        "device %d as well",
                        graph->gpu.number, rex_peer_other(command, graph->gpu.number));
    if (command->kind != REX_COMMAND_LAUNCH)
        return REX_OK;
    int entered = rex_context_enter(graph->gpu.context);
    int result = entered >= 0
                     ? rex_pack_launch(&graph->gpu, command->launch.module,
                                       &command->launch.description, &command->launch.map, &packed)
                     : rex_fail(REX_ECUDA, "a graph: %s", rex_cuda_why());
    rex_context_leave(entered);
    return result;
}

static int append(struct rex_graph *graph, const struct rex_command *command, uint32_t lane)
{
    struct rex_command own = *command;
    void *memory = NULL;
    int result = grow(graph);
    if (result == REX_OK && command->kind == REX_COMMAND_LAUNCH)
        result = rex_capture_own_map(&own, &memory);
    if (result != REX_OK)
        return result;
    own.lane = lane;
    if (command->kind == REX_COMMAND_LAUNCH) {
        graph->launch[graph->launches++] = graph->count;
        rex_library_hold(command->launch.module);
    }
    graph->command[graph->count] = own;
    graph->owned[graph->count++] = memory;
    return REX_OK;
}

int rex_capture_add(struct rex_graph *graph, const struct rex_command *command, uint32_t lane)
{
    rex_lock(&graph->lock);
    int result = rex_capture_check(graph, command);
    if (result == REX_OK)
        result = append(graph, command, lane);
    rex_unlock(&graph->lock);
    return result;
}

int rex_capture_record(struct rex_graph *graph, struct rex_event *event, uint32_t lane)
{
    rex_lock(&graph->lock);
    struct rex_command command = {.kind = REX_COMMAND_RECORD, .event = {NULL, graph->points}};
    int result = append(graph, &command, lane);
    if (result == REX_OK) {
        rex_lock(&event->lock);
        event->state = REX_EVENT_GRAPH;
        event->graph = graph->number;
        event->point = graph->points++;
        rex_unlock(&event->lock);
    }
    rex_unlock(&graph->lock);
    return result;
}

/*
 * The graph in which EVENT was recorded, if its capture goes on. The caller holds the lock of the
 * list.
 */
static struct rex_graph *graph_of(struct rex_event *event, uint32_t *point)
{
    struct rex_graph *graph = captured;
    rex_lock(&event->lock);
    while (graph != NULL && (event->state != REX_EVENT_GRAPH || graph->number != event->graph))
        graph = graph->next;
    *point = event->point;
    rex_unlock(&event->lock);
    return graph;
}

/* Adds QUEUE to the capture of GRAPH. The caller holds the lock of the list. */
static int join(struct rex_queue *queue, struct rex_graph *graph)
{
    if (queue->capture == graph)
        return REX_OK;
    if (queue->gpu.number != graph->gpu.number)
        return rex_fail(
            REX_EINVAL,
            "rex_queue_wait_event: queue \"%s\" is of device %d, and the graph of device %d",
            queue->name, queue->gpu.number, graph->gpu.number);
    if (graph->lanes == REX_GRAPH_LANES)
        return rex_fail(REX_EINVAL, "rex_queue_wait_event: more than %d queues in one graph",
                        REX_GRAPH_LANES);
    graph->queue[graph->lanes] = queue;
    queue->lane = graph->lanes++;
    queue->capture = graph;
    return REX_OK;
}

bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result)
{
    uint32_t point = 0;
    rex_lock(&lock);
    struct rex_graph *graph = graph_of(event, &point);
    if (queue->capture != NULL && queue->capture != graph)
        *result =
            rex_fail(REX_EINVAL,
                     "rex_queue_wait_event: queue \"%s\" is being captured, and the event was "
                     "not recorded in the same graph",
                     queue->name);
    else if (graph != NULL && (*result = join(queue, graph)) == REX_OK) {
        struct rex_command command = {.kind = REX_COMMAND_WAIT, .event = {NULL, point}};
        rex_lock(&graph->lock);
        *result = append(graph, &command, queue->lane);
        rex_unlock(&graph->lock);
    }
    rex_unlock(&lock);
    return graph != NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void rex_capture_begin(struct rex_graph *graph, struct rex_queue *queue)
{
    rex_lock(&lock);
    graph->queue[0] = queue;
    graph->lanes = 1;
    graph->next = captured;
    __atomic_store_n(&captured, graph, __ATOMIC_RELEASE);
    queue->capture = graph;
    queue->lane = 0;
    rex_unlock(&lock);
}

/* Takes GRAPH off the list, so that no other queue joins. */
static void leave_list(struct rex_graph *graph)
{
    rex_lock(&lock);
    struct rex_graph **at = &captured;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    rex_unlock(&lock);
}

void rex_capture_end(struct rex_graph *graph)
{
    leave_list(graph);
    for (uint32_t i = 1; i < graph->lanes; i++) {
        rex_lock(&graph->queue[i]->lock);
        graph->queue[i]->capture = NULL;
        rex_unlock(&graph->queue[i]->lock);
    }
}
