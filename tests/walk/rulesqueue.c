/*
 * rulesqueue.c - queues, events and graphs. On the host device a queue does everything at once, so that the model can follow it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "inqueue.h"
#include "queue/queuestate.h"
#include "rules.h"

/* ---- what a queue is told, done or kept
 * ----------------------------------------------------------------------------------------------------- */

static struct captured *captured_in(const struct rex_graph *graph)
{
    struct captured *all = walk_now.captured;
    for (int i = 0; graph != NULL && i < QUEUES + GRAPHS; i++)
        if (all[i].graph == graph)
            return &all[i];
    return NULL;
}

static void do_command(int device, const struct command *command)
{
    switch (command->kind) {
    case LAUNCH:
        if (!model_all_mapped(device, &command->map))
            walk_found("a kernel was launched with memory that is not mapped");
        model_kernel(device, &command->map);
        break;
    case COPY_TO: model_copy_to(command->memory, command->host, command->size); break;
    case COPY_FROM: model_copy_from(command->memory, command->host, command->size); break;
    case UPDATE_TO: model_update(device, &command->map, REX_MAP_TO); break;
    case UPDATE_FROM: model_update(device, &command->map, REX_MAP_FROM); break;
    case FILL: model_fill(command->memory, &command->pattern, command->width, command->size); break;
    }
}

/* QUEUE has taken COMMAND. */
static void took(const struct rex_queue *queue, const struct command *command)
{
    struct captured *captured = captured_in(queue->capture);
    if (queue->capture == NULL)
        do_command(queue->gpu.number, command);
    else if (captured == NULL || captured->count == COMMANDS)
        walk_now.captured[0].overfull = captured != NULL ? (captured->overfull = true) : false;
    else {
        captured->launches += command->kind == LAUNCH;
        captured->command[captured->count++] = *command;
    }
}

/* ---- queues
 * ---------------------------------------------------------------------------------------------------------------------------------- */

/* The call returned RESULT, and has stored MADE in queue NUMBER if it was RIGHT. */
static void keep_queue(struct call *call, int number, bool right, int result, struct rex_queue *made)
{
    bool known = right && walk_is_registered() && walk_device(call, 2) >= 0;
    if (walk_judge_int(call, result, !right ? MUST_FAIL : known ? MUST_WORK : EITHER))
        walk_now.queue[number] = made;
    else if (made != NULL)
        walk_found("it fails, and has stored a queue");
}

void rule_rex_module_queue_create(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_queue *made = NULL;
    void *default_stream = NULL;
    if (number >= 0 && walk_now.queue[number] != NULL)
        return;
    bool right = number >= 0 && walk_module(call, 1) == &walk_now.module && walk_integer(call, 4) < 8;
    walk_before();
    int result = rex_module_queue_create(number >= 0 ? &made : NULL, walk_module(call, 1), walk_integer(call, 2), walk_string(call, 3),
                                         (unsigned)walk_integer(call, 4), walk_variable(call, 5) >= 0 ? &default_stream : NULL);
    keep_queue(call, number, right, result, made);
}

void rule_rex_queue_stream(struct call *call)
{
    void *stream = NULL, *context = NULL;
    const struct rex_queue *queue = walk_queue(call, 0);
    bool wrong = queue == NULL || walk_variable(call, 1) < 0 || queue->immediate || queue->capture != NULL;
    walk_before();
    int result =
        rex_queue_stream(walk_queue(call, 0), walk_variable(call, 1) >= 0 ? &stream : NULL, walk_variable(call, 2) >= 0 ? &context : NULL);
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : MUST_WORK) && (stream != NULL || context != NULL))
        walk_found("it fails, and has stored a stream");
}

void rule_rex_queue_destroy(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_queue *queue = walk_queue(call, 0);
    bool captured = queue != NULL && queue->capture != NULL;
    walk_before();
    int result = rex_queue_destroy(queue);
    walk_judge_int(call, result, captured ? MUST_FAIL : MUST_WORK);
    if (number >= 0 && !captured)
        walk_now.queue[number] = NULL;
}

void rule_launch_in_queue(struct call *call)
{
    struct rex_queue *queue = walk_queue(call, 1);
    struct walk_map *map = walk_map_of(call, 7);
    struct rex_launch_config launch = {.key = walk_key(call, 2),
                                       .device = walk_integer(call, 3),
                                       .teams = {(uint32_t)walk_integer(call, 4), 1, 1},
                                       .threads = {(uint32_t)walk_integer(call, 5), 1, 1},
                                       .flags = (uint32_t)walk_integer(call, 6)};
    int key = walk_variable(call, 2);
    if (queue == NULL || !walk_is_harmless(call, 2, map))
        return;
    struct command command = {.kind = LAUNCH, .memory = -1};
    if (map != NULL)
        command.map = *map;
    if (key == 2 || map == NULL)
        command.map.form = FORM_NOTHING;
    walk_before();
    int result = launch_module_in(queue, walk_module(call, 0), &launch, map != NULL ? &map->map : NULL);
    bool wrong =
        walk_module(call, 0) != &walk_now.module || (map != NULL && (map->wrong || walk_has_types(map, REX_MAP_ALWAYS | REX_MAP_DELETE)));
    int device = walk_device_of_queue(queue);
    /* Where a graph would launch nothing, nobody asks which kernel. */
    bool is_nowhere = queue->capture != NULL && device < 0;
    wrong |= !is_nowhere && (key < 0 || key > 2 || walk_has_too_many(call, 2, map));
    bool sure = !wrong && !walk_settings.gpu && queue->capture == NULL && device >= 0 && (launch.device == -1 || launch.device == device) &&
                launch.teams[0] < 8 && launch.threads[0] < 8 && launch.flags == 0 && (map == NULL || !walk_has_empty(map));
    enum verdict verdict = wrong ? MUST_FAIL : !sure ? EITHER : map == NULL || model_all_mapped(device, map) ? MUST_WORK : MUST_FAIL;
    if (walk_judge_int(call, result, verdict) && !walk_settings.gpu)
        took(queue, &command);
}

/* Copies and fills of device memory. */
static bool may_use(const struct call *call, const struct rex_queue *queue, int memory, int64_t size)
{
    (void)call;
    return memory < 0 || queue == NULL || walk_now.memory[memory].address == NULL ||
           (size <= walk_now.memory[memory].size && queue->gpu.number == walk_now.memory[memory].device);
}

static void copied(struct call *call, int result, enum kind_of_command kind, int memory, int host, int64_t size)
{
    const struct rex_queue *queue = walk_queue(call, 0);
    struct command command = {.kind = kind, .memory = memory, .host = host, .size = (int)size};
    bool null = queue == NULL || (size > 0 && (host < 0 || memory < 0 || walk_now.memory[memory].address == NULL));
    if (walk_judge_int(call, result, null ? MUST_FAIL : walk_device_of_queue(queue) >= 0 ? MUST_WORK : EITHER) && size > 0)
        took(queue, &command);
}

void rule_rex_queue_copy_to(struct call *call)
{
    int memory = walk_variable(call, 1);
    int64_t size = walk_integer(call, 3);
    if (!may_use(call, walk_queue(call, 0), memory, size))
        return;
    walk_before();
    int result = rex_queue_copy_to(walk_queue(call, 0), walk_memory_of(call, 1), walk_host_of(call, 2), (size_t)size);
    copied(call, result, COPY_TO, memory, walk_variable(call, 2), size);
}

void rule_rex_queue_copy_from(struct call *call)
{
    int memory = walk_variable(call, 2);
    int64_t size = walk_integer(call, 3);
    if (!may_use(call, walk_queue(call, 0), memory, size))
        return;
    walk_before();
    int result = rex_queue_copy_from(walk_queue(call, 0), walk_host_of(call, 1), walk_memory_of(call, 2), (size_t)size);
    copied(call, result, COPY_FROM, memory, walk_variable(call, 1), size);
}

/* Within a device, or between two; the memory has to be of the devices that are named. */
static bool is_of(int memory, int64_t device)
{
    return memory < 0 || walk_now.memory[memory].address == NULL || walk_now.memory[memory].device == (device == -1 ? 0 : device);
}

void rule_rex_queue_copy_peer(struct call *call)
{
    const struct rex_queue *queue = walk_queue(call, 0);
    int to = walk_variable(call, 1), from = walk_variable(call, 3), device = walk_device_of_queue(queue);
    int64_t size = walk_integer(call, 5);
    if (to == from || (queue != NULL && queue->capture != NULL) || !is_of(to, walk_integer(call, 2)) ||
        !is_of(from, walk_integer(call, 4)) || (to >= 0 && walk_now.memory[to].address != NULL && size > walk_now.memory[to].size) ||
        (from >= 0 && walk_now.memory[from].address != NULL && size > walk_now.memory[from].size))
        return;
    bool wrong = queue == NULL || (size > 0 && (walk_memory_of(call, 1) == NULL || walk_memory_of(call, 3) == NULL));
    bool sure = device >= 0 && walk_device(call, 2) >= 0 && walk_device(call, 4) >= 0 &&
                (walk_device(call, 2) == device || walk_device(call, 4) == device);
    walk_before();
    int result = rex_queue_copy_peer(walk_queue(call, 0), walk_memory_of(call, 1), walk_integer(call, 2), walk_memory_of(call, 3),
                                     walk_integer(call, 4), (size_t)size);
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : sure ? MUST_WORK : EITHER) && size > 0)
        model_copy_peer(to, from, (int)size);
}

void rule_rex_queue_fill(struct call *call)
{
    struct rex_queue *queue = walk_queue(call, 0);
    int memory = walk_variable(call, 1);
    int64_t width = walk_integer(call, 3), size = walk_integer(call, 4);
    if (!may_use(call, queue, memory, size))
        return;
    struct command command = {.kind = FILL, .memory = memory, .size = (int)size, .width = (int)width};
    if (walk_host_of(call, 2) != NULL)
        memcpy(&command.pattern, walk_host_of(call, 2), 4);
    bool wrong = queue == NULL || memory < 0 || walk_now.memory[memory].address == NULL || walk_host_of(call, 2) == NULL ||
                 (width != 1 && width != 2 && width != 4);
    walk_before();
    int result = rex_queue_fill(queue, walk_memory_of(call, 1), walk_host_of(call, 2), (size_t)width, (size_t)size);
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER))
        took(queue, &command);
}

static void count_call(void *argument)
{
    int *calls = argument;
    if (calls != NULL)
        ++*calls;
}

void rule_rex_queue_host_func(struct call *call)
{
    static int calls;
    int function = walk_variable(call, 1);
    walk_before();
    int result = rex_queue_host_func(walk_queue(call, 0), function >= 0 ? count_call : NULL, function == 0 ? &calls : NULL);
    walk_judge_int(call, result, function < 0 || walk_queue(call, 0) == NULL ? MUST_FAIL : EITHER);
}

void rule_rex_queue_update(struct call *call)
{
    struct rex_queue *queue = walk_queue(call, 0);
    struct walk_map *map = walk_map_of(call, 1);
    walk_before();
    int result = rex_queue_update(queue, map != NULL ? &map->map : NULL);
    bool wrong = queue == NULL || map == NULL || map->wrong;
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER) || walk_settings.gpu)
        return;
    for (int to = 1; to >= 0; to--)
        for (int i = 0; i < map->map.count; i++) {
            struct command command = {
                .kind = to ? UPDATE_TO : UPDATE_FROM, .memory = -1, .map = {.map = {.count = 1}, .part = {map->part[i]}}};
            if (map->part[i].host >= 0 && map->part[i].size > 0 && (map->part[i].type & (to ? REX_MAP_TO : REX_MAP_FROM))) {
                if (walk_device_of_queue(queue) >= 0 && !model_all_mapped(queue->gpu.number, &command.map))
                    walk_found("it copies memory that is not mapped");
                took(queue, &command);
            }
        }
}

#define QUESTION(name, must_work)                                                                                \
    void rule_##name(struct call *call)                                                                          \
    {                                                                                                            \
        struct rex_queue *queue = walk_queue(call, 0);                                                           \
        bool free = queue != NULL && queue->capture == NULL;                                                     \
        walk_before();                                                                                           \
        walk_judge_int(call, name(queue), queue == NULL ? MUST_FAIL : (must_work) && free ? MUST_WORK : EITHER); \
    }
QUESTION(rex_queue_sync, true)
QUESTION(rex_queue_query, true)
QUESTION(rex_queue_device, true)

void rule_rex_queue_is_synchronous(struct call *call)
{
    walk_before();
    bool immediate = rex_queue_is_synchronous(walk_queue(call, 0));
    if (walk_judge(call, walk_queue(call, 0) == NULL, 0, EITHER) && immediate == walk_settings.gpu &&
        walk_device_of_queue(walk_queue(call, 0)) >= 0)
        walk_found("it says %d", immediate);
}

void rule_rex_module_queue_global(struct call *call)
{
    walk_before();
    void *address = rex_module_queue_global(walk_module(call, 0), walk_queue(call, 1), walk_key(call, 2));
    bool wrong = walk_queue(call, 1) == NULL || walk_module(call, 0) != &walk_now.module || walk_variable(call, 2) != 3;
    walk_judge(call, address == NULL, 0, wrong ? MUST_FAIL : EITHER);
}

/* ---- events
 * ---------------------------------------------------------------------------------------------------------------------------------- */

void rule_rex_event_create(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_event *made = NULL;
    if (number >= 0 && walk_now.event[number] != NULL)
        return;
    walk_before();
    if (walk_judge_int(call, rex_event_create(number >= 0 ? &made : NULL), number < 0 ? MUST_FAIL : MUST_WORK))
        walk_now.event[number] = made;
}

void rule_rex_event_destroy(struct call *call)
{
    int number = walk_variable(call, 0);
    walk_before();
    rex_event_destroy(walk_event(call, 0));
    walk_judge(call, false, 0, MUST_WORK);
    if (number >= 0)
        walk_now.event[number] = NULL;
}

void rule_rex_event_record(struct call *call)
{
    struct rex_event *event = walk_event(call, 0);
    struct rex_queue *queue = walk_queue(call, 1);
    bool null = event == NULL || queue == NULL;
    walk_before();
    walk_judge_int(call, rex_event_record(event, queue), null ? MUST_FAIL : queue->capture == NULL ? MUST_WORK : EITHER);
}

void rule_rex_queue_wait_event(struct call *call)
{
    struct rex_event *event = walk_event(call, 1);
    struct rex_queue *queue = walk_queue(call, 0);
    walk_before();
    walk_judge_int(call, rex_queue_wait_event(queue, event), event == NULL || queue == NULL ? MUST_FAIL : EITHER);
}

void rule_rex_event_sync(struct call *call)
{
    walk_before();
    walk_judge_int(call, rex_event_sync(walk_event(call, 0)), walk_event(call, 0) == NULL ? MUST_FAIL : EITHER);
}

void rule_rex_event_query(struct call *call)
{
    walk_before();
    int result = rex_event_query(walk_event(call, 0));
    if (walk_judge_int(call, result, walk_event(call, 0) == NULL ? MUST_FAIL : EITHER) && result > 1)
        walk_found("it returns %d", result);
}

void rule_rex_event_elapsed(struct call *call)
{
    double seconds = -77.0;
    struct rex_event *begin = walk_event(call, 1), *end = walk_event(call, 2);
    bool null = walk_variable(call, 0) < 0 || begin == NULL || end == NULL;
    walk_before();
    bool worked =
        walk_judge_int(call, rex_event_elapsed(walk_variable(call, 0) >= 0 ? &seconds : NULL, begin, end), null ? MUST_FAIL : EITHER);
    if (!worked && seconds != -77.0)
        walk_found("it fails, and has stored %g seconds", seconds);
}

/* ---- graphs
 * ---------------------------------------------------------------------------------------------------------------------------------- */

void rule_rex_graph_begin(struct call *call)
{
    struct rex_queue *queue = walk_queue(call, 0);
    bool wrong = queue == NULL || queue->capture != NULL;
    struct captured *captured = NULL;
    for (int i = 0; i < QUEUES + GRAPHS; i++)
        if (walk_now.captured[i].graph == NULL)
            captured = &walk_now.captured[i];
    if (captured == NULL)
        return;
    walk_before();
    if (walk_judge_int(call, rex_graph_begin(queue), wrong ? MUST_FAIL : MUST_WORK))
        *captured = (struct captured){.graph = queue->capture, .device = queue->gpu.number};
}

void rule_rex_graph_end(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_graph *made = NULL;
    struct rex_queue *queue = walk_queue(call, 1);
    if (number >= 0 && walk_now.graph[number] != NULL)
        return;
    struct captured *captured = captured_in(queue != NULL ? queue->capture : NULL);
    walk_before();
    int result = rex_graph_end(number >= 0 ? &made : NULL, queue);
    if (walk_judge_int(call, result, number < 0 || captured == NULL ? MUST_FAIL : EITHER)) {
        walk_now.graph[number] = made;
        return;
    }
    if (made != NULL)
        walk_found("it fails, and has stored a graph");
    if (captured != NULL && queue->capture == NULL)
        captured->graph = NULL;
}

void rule_rex_graph_destroy(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_graph *graph = number >= 0 ? walk_now.graph[number] : NULL;
    struct captured *captured = captured_in(graph);
    walk_before();
    rex_graph_destroy(graph);
    walk_judge(call, false, 0, MUST_WORK);
    if (number >= 0)
        walk_now.graph[number] = NULL;
    if (captured != NULL)
        captured->graph = NULL;
}

void rule_rex_graph_launches(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_graph *graph = number >= 0 ? walk_now.graph[number] : NULL;
    struct captured *captured = captured_in(graph);
    walk_before();
    size_t launches = rex_graph_launches(graph);
    if (walk_judge(call, graph == NULL, 0, EITHER) && !walk_settings.gpu && !captured->overfull && (int)launches != captured->launches)
        walk_found("it says %zu launches of %d", launches, captured->launches);
}

void rule_rex_graph_launch(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_graph *graph = number >= 0 ? walk_now.graph[number] : NULL;
    struct rex_queue *queue = walk_queue(call, 1);
    struct captured *captured = captured_in(graph);
    bool wrong = graph == NULL || queue == NULL || queue->capture != NULL || queue->gpu.number != captured->device;
    walk_before();
    int result = rex_graph_launch(graph, queue);
    bool worked = walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER);
    for (int i = 0; worked && !walk_settings.gpu && i < captured->count; i++)
        do_command(captured->device, &captured->command[i]);
    if (captured != NULL && (captured->overfull || (!worked && !wrong)))
        model_forget();
}

void rule_rex_graph_set_args(struct call *call)
{
    int number = walk_variable(call, 0);
    struct rex_graph *graph = number >= 0 ? walk_now.graph[number] : NULL;
    struct captured *captured = captured_in(graph);
    struct walk_map *map = walk_map_of(call, 2);
    int64_t launch = walk_integer(call, 1), at = 0;
    if (captured != NULL && captured->overfull)
        return;
    struct command *command = NULL;
    for (int i = 0; captured != NULL && i < captured->count && command == NULL; i++)
        if (captured->command[i].kind == LAUNCH && at++ == launch)
            command = &captured->command[i];
    bool harmless = walk_settings.gpu || command == NULL || command->map.form == FORM_NOTHING ||
                    (map != NULL && (map->wrong || map->form == command->map.form));
    if (!harmless)
        return;
    walk_before();
    int result = rex_graph_set_args(graph, (size_t)launch, map != NULL ? &map->map : NULL);
    bool wrong = graph == NULL || launch < 0 || (map != NULL && map->wrong) || (command == NULL && !walk_settings.gpu);
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER) || command == NULL)
        return;
    enum form form = command->map.form;
    command->map = map != NULL ? *map : (struct walk_map){.form = FORM_NOTHING};
    command->map.form = form;
}
