/*
 * graph.c - recording work, and doing it again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "mapping.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of which queues a recording has */
static struct rex_graph *recorded;
static uint64_t count;

/* ---- memory ------------------------------------------------------------------------------------------------------------------------- */

static void free_graph(struct rex_graph *graph)
{
    rex_graph_unbuild(graph);
    for (size_t i = 0; i < graph->count; i++)
        free(graph->owned[i]);
    free(graph->work);
    free(graph->owned);
    free(graph->launch);
    rex_gpu_free(&graph->gpu);
    pthread_mutex_destroy(&graph->lock);
    free(graph);
}

static struct rex_graph *new_graph(const struct rex_queue *queue)
{
    struct rex_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        rex_fail_memory(sizeof *graph, "a graph");
        return NULL;
    }
    pthread_mutex_init(&graph->lock, NULL);
    graph->number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    graph->waits = queue->waits;
    graph->forks = queue->forks;
    graph->gpu.number = queue->gpu.number;
    graph->gpu.ordinal = queue->gpu.ordinal;
    graph->gpu.context = queue->gpu.context;
    graph->gpu.flags = queue->gpu.flags;
    graph->gpu.remember = queue->gpu.remember;
    return graph;
}

static int grow(struct rex_graph *graph)
{
    size_t room = graph->room > 0 ? 2 * graph->room : 64;
    if (graph->count < graph->room)
        return REX_OK;
    struct rex_work *work = reallocarray(graph->work, room, sizeof *work);
    if (work != NULL)
        graph->work = work;
    void **owned = reallocarray(graph->owned, room, sizeof *owned);
    if (owned != NULL)
        graph->owned = owned;
    size_t *launch = reallocarray(graph->launch, room, sizeof *launch);
    if (launch != NULL)
        graph->launch = launch;
    if (work == NULL || owned == NULL || launch == NULL)
        return rex_fail_memory(room * sizeof *work, "a graph");
    graph->room = room;
    return REX_OK;
}

/* Bytes of values that a map points to. */
static size_t size_of_values(const struct rex_map *map)
{
    size_t size = 0;
    for (int32_t i = 0; i < map->count; i++)
        if ((map->types[i] & REX_TYPE_LITERAL) && map->sizes[i] > (int64_t)sizeof(void *))
            size += ((size_t)map->sizes[i] + 15) / 16 * 16;
    return size;
}

/* WORK's map in memory of its own, NULL where there was none left. */
static void *own_map(struct rex_work *work)
{
    struct rex_map *map = &work->launch.map;
    size_t rows = (size_t)map->count, columns = rows * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    char *memory = malloc((columns + 15) / 16 * 16 + size_of_values(map) + 16), *values = memory + (columns + 15) / 16 * 16;
    if (memory == NULL)
        return NULL;
    struct rex_map own = {map->count, (void **)(void *)memory, (void **)(void *)memory + rows, NULL, NULL, NULL, NULL};
    own.sizes = (int64_t *)(void *)(own.begin + rows);
    own.types = own.sizes + rows;
    for (size_t i = 0; i < rows; i++) {
        own.base[i] = map->base[i];
        own.begin[i] = map->begin[i];
        own.sizes[i] = map->sizes[i];
        own.types[i] = map->types[i];
        if (!(map->types[i] & REX_TYPE_LITERAL) || map->sizes[i] <= (int64_t)sizeof(void *))
            continue;
        memcpy(values, map->begin[i], (size_t)map->sizes[i]);
        own.base[i] = own.begin[i] = values;
        values += ((size_t)map->sizes[i] + 15) / 16 * 16;
    }
    *map = own;
    return memory;
}

/* ---- recording ----------------------------------------------------------------------------------------------------------------------- */

/* As it would be done now, but for doing it. */
static int check(struct rex_graph *graph, const struct rex_work *work)
{
    struct rex_packed packed;
    if (graph->waits)
        return rex_work_check(work, graph->gpu.number);
    if (work->kind != REX_WORK_LAUNCH)
        return REX_OK;
    int entered = rex_stream_enter(graph->gpu.context);
    int result = entered >= 0 ? rex_work_pack(&graph->gpu, work, &packed) : rex_fail(REX_ECUDA, "a graph: %s", rex_cuda_why());
    rex_stream_leave(entered);
    return result;
}

static int append(struct rex_graph *graph, const struct rex_work *work, uint32_t lane)
{
    struct rex_work own = *work;
    void *memory = NULL;
    int result = grow(graph);
    if (result == REX_OK && work->kind == REX_WORK_LAUNCH && (memory = own_map(&own)) == NULL)
        result = rex_fail_memory((size_t)work->launch.map.count * 32, "a launch in a graph");
    if (result != REX_OK)
        return result;
    own.lane = lane;
    if (work->kind == REX_WORK_LAUNCH)
        graph->launch[graph->launches++] = graph->count;
    graph->work[graph->count] = own;
    graph->owned[graph->count++] = memory;
    return REX_OK;
}

int rex_graph_add(struct rex_graph *graph, const struct rex_work *work, uint32_t lane)
{
    pthread_mutex_lock(&graph->lock);
    int result = check(graph, work);
    if (result == REX_OK)
        result = append(graph, work, lane);
    pthread_mutex_unlock(&graph->lock);
    return result;
}

int rex_graph_record(struct rex_graph *graph, struct rex_event *event, uint32_t lane)
{
    pthread_mutex_lock(&graph->lock);
    struct rex_work work = {.kind = REX_WORK_RECORD, .event = {NULL, graph->points}};
    int result = append(graph, &work, lane);
    if (result == REX_OK) {
        pthread_mutex_lock(&event->lock);
        event->state = REX_EVENT_GRAPH;
        event->graph = graph->number;
        event->point = graph->points++;
        pthread_mutex_unlock(&event->lock);
    }
    pthread_mutex_unlock(&graph->lock);
    return result;
}

/* The graph in which EVENT was recorded, if it is still being recorded; under the lock of the list. */
static struct rex_graph *graph_of(struct rex_event *event, uint32_t *point)
{
    struct rex_graph *graph = recorded;
    pthread_mutex_lock(&event->lock);
    while (graph != NULL && (event->state != REX_EVENT_GRAPH || graph->number != event->graph))
        graph = graph->next;
    *point = event->point;
    pthread_mutex_unlock(&event->lock);
    return graph;
}

/* QUEUE takes part in the recording of GRAPH; under the lock of the list. */
static int join(struct rex_queue *queue, struct rex_graph *graph)
{
    if (queue->recording == graph)
        return REX_OK;
    if (queue->gpu.number != graph->gpu.number)
        return rex_fail(REX_EINVAL, "rex_queue_wait: queue \"%s\" is of device %d, and the graph of device %d", queue->name, queue->gpu.number,
                        graph->gpu.number);
    if (graph->lanes == REX_GRAPH_LANES)
        return rex_fail(REX_EINVAL, "rex_queue_wait: more than %d queues in one graph", REX_GRAPH_LANES);
    graph->queue[graph->lanes] = queue;
    queue->lane = graph->lanes++;
    queue->recording = graph;
    return REX_OK;
}

int rex_graph_wait(struct rex_queue *queue, struct rex_event *event, int *result)
{
    uint32_t point = 0;
    pthread_mutex_lock(&lock);
    struct rex_graph *graph = graph_of(event, &point);
    if (queue->recording != NULL && queue->recording != graph)
        *result = rex_fail(REX_EINVAL, "rex_queue_wait: queue \"%s\" is being recorded to, and the event was not recorded in the same graph",
                           queue->name);
    else if (graph != NULL && (*result = join(queue, graph)) == REX_OK) {
        struct rex_work work = {.kind = REX_WORK_WAIT, .event = {NULL, point}};
        pthread_mutex_lock(&graph->lock);
        *result = append(graph, &work, queue->lane);
        pthread_mutex_unlock(&graph->lock);
    }
    pthread_mutex_unlock(&lock);
    return graph != NULL;
}

/* ---- begin and end ------------------------------------------------------------------------------------------------------------------- */

int rex_graph_begin(struct rex_queue *queue)
{
    int result = rex_queue_enter(queue, "rex_graph_begin");
    if (result != REX_OK)
        return result;
    struct rex_graph *graph = NULL;
    if (queue->recording != NULL)
        result = rex_fail(REX_EINVAL, "rex_graph_begin: queue \"%s\" is being recorded to already", queue->name);
    else if ((graph = new_graph(queue)) == NULL)
        result = REX_ENOMEM;
    if (graph != NULL) {
        pthread_mutex_lock(&lock);
        graph->queue[0] = queue;
        graph->lanes = 1;
        graph->next = recorded;
        recorded = graph;
        queue->recording = graph;
        queue->lane = 0;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return result;
}

/* Take GRAPH off the list, so that no other queue joins. */
static void end_recording(struct rex_graph *graph)
{
    pthread_mutex_lock(&lock);
    struct rex_graph **at = &recorded;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    pthread_mutex_unlock(&lock);
}

/* The queues that took part go back to work. */
static void let_queues_go(struct rex_graph *graph)
{
    for (uint32_t i = 1; i < graph->lanes; i++) {
        pthread_mutex_lock(&graph->queue[i]->lock);
        graph->queue[i]->recording = NULL;
        pthread_mutex_unlock(&graph->queue[i]->lock);
    }
}

int rex_graph_end(struct rex_queue *queue, struct rex_graph **graph)
{
    int result = graph != NULL ? rex_queue_enter(queue, "rex_graph_end") : rex_fail(REX_EINVAL, "rex_graph_end: there is no place for the graph");
    if (result != REX_OK)
        return result;
    struct rex_graph *made = queue->recording;
    bool began = made != NULL && made->queue[0] == queue;
    if (began)
        queue->recording = NULL;
    pthread_mutex_unlock(&queue->lock);
    if (!began)
        return rex_fail(REX_EINVAL, "rex_graph_end: queue \"%s\" has not begun a recording", queue->name);
    end_recording(made);
    let_queues_go(made);
    if (!made->waits)
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
    return graph->launches;
}

/* ---- doing it ------------------------------------------------------------------------------------------------------------------------ */

static int do_all(const struct rex_graph *graph)
{
    int result = REX_OK;
    for (size_t i = 0; i < graph->count && result == REX_OK; i++)
        result = rex_work_do(graph->gpu.number, &graph->work[i]);
    return result;
}

static int put_in_stream(struct rex_graph *graph, struct rex_queue *queue)
{
    int entered = rex_stream_enter(graph->gpu.context), result = REX_OK;
    if (entered < 0)
        return rex_fail(REX_ECUDA, "rex_graph_launch: %s", rex_cuda_why());
    if (!graph->gpu.remember || graph->stale || rex_mapping_now() != graph->generation)
        result = rex_graph_refresh(graph);
    if (result == REX_OK && REX_STREAM(cuGraphLaunch, graph->executable, queue->stream) != 0)
        result = rex_fail(REX_ECUDA, "a graph of %zu launches: %s", graph->launches, rex_cuda_why());
    rex_stream_leave(entered);
    if (result != REX_OK)
        return result;
    rex_queue_note_graph(queue, graph);
    return REX_OK;
}

static int launch(struct rex_graph *graph, struct rex_queue *queue)
{
    if (queue->recording != NULL)
        return rex_fail(REX_EINVAL, "rex_graph_launch: queue \"%s\" is being recorded to", queue->name);
    if (queue->gpu.number != graph->gpu.number || queue->waits != graph->waits)
        return rex_fail(REX_EINVAL, "rex_graph_launch: queue \"%s\" is of device %d, and the graph of device %d", queue->name, queue->gpu.number,
                        graph->gpu.number);
    if (graph->count == 0)
        return REX_OK;
    return graph->waits ? do_all(graph) : put_in_stream(graph, queue);
}

int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue)
{
    int result = graph != NULL ? rex_queue_enter(queue, "rex_graph_launch") : rex_fail(REX_EINVAL, "rex_graph_launch: the graph is NULL");
    if (result != REX_OK)
        return result;
    pthread_mutex_lock(&graph->lock);
    result = launch(graph, queue);
    pthread_mutex_unlock(&graph->lock);
    if (result == REX_OK)
        result = rex_queue_settle(queue);
    pthread_mutex_unlock(&queue->lock);
    return result;
}

static int set(struct rex_graph *graph, size_t number, const struct rex_map *map)
{
    size_t at = graph->launch[number];
    struct rex_work work = graph->work[at];
    work.launch.map = *map;
    int result = check(graph, &work);
    if (result != REX_OK)
        return result;
    void *memory = own_map(&work);
    if (memory == NULL)
        return rex_fail_memory((size_t)map->count * 32, "a launch in a graph");
    if (!graph->waits)
        result = rex_graph_change(graph, number, &work);
    if (result == REX_OK) {
        free(graph->owned[at]);
        graph->owned[at] = memory;
        graph->work[at] = work;
    } else
        free(memory);
    return result;
}

int rex_graph_set(struct rex_graph *graph, size_t number, const struct rex_map *map)
{
    static const struct rex_map nothing;
    if (graph == NULL || number >= graph->launches)
        return graph == NULL ? rex_fail(REX_EINVAL, "rex_graph_set: the graph is NULL")
                             : rex_fail(REX_EINVAL, "rex_graph_set: launch %zu, and the graph has %zu", number, graph->launches);
    if (!graph->waits && graph->forks != rex_forks())
        return rex_fail(REX_EFORK, "rex_graph_set: the graph was made in this process's parent");
    pthread_mutex_lock(&graph->lock);
    int result = set(graph, number, map != NULL ? map : &nothing);
    pthread_mutex_unlock(&graph->lock);
    return result;
}
