/*
 * rulesqueue.c - queues, events and graphs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "inqueue.h"
#include "rules.h"

enum { GONE = 1000 }; /* a capture that an event was recorded in, and that is forgotten */

/* ---- order ---------------------------------------------------------------------------------- */

static int number_of(const struct walk_queue *queue)
{
    return (int)(queue - walk_now.queue);
}

static void wait_for_all_up_to_here(int queue)
{
    unsigned seen[QUEUES];
    model_record(queue, seen);
    model_wait(HOST, seen);
}

void walk_wait_for_queue(int queue)
{
    wait_for_all_up_to_here(queue);
    model_idle(queue);
}

/* The thread waits for the queue in one of the ways that there are. */
static void wait_here(int queue)
{
    struct rex_queue *unseen = walk_now.queue[queue].queue;
    struct walk_event *event = &walk_now.between[queue];
    static _Thread_local unsigned way;
    bool done = false, by_event = false;
    if (event->event == NULL && rex_event_create(&event->event) != REX_OK)
        walk_found("an event cannot be made: %s", rex_last_error());
    switch (way++ % 3) {
    case 0: done = rex_queue_sync(unseen) == REX_OK; break;
    case 1:
        by_event = true;
        done = rex_event_record(event->event, unseen) == REX_OK &&
               rex_event_sync(event->event) == REX_OK;
        break;
    default:
        for (int tries = 0; !done && tries < 100000; tries++)
            done = rex_queue_query(unseen) == 1;
    }
    if (!done)
        walk_found("the program cannot wait for queue%d: %s", queue, rex_last_error());
    if (by_event)
        wait_for_all_up_to_here(queue);
    else
        walk_wait_for_queue(queue);
}

static void wait_in(int who, int queue)
{
    struct walk_event *event = &walk_now.between[queue];
    unsigned seen[QUEUES];
    if ((event->event == NULL && rex_event_create(&event->event) != REX_OK) ||
        rex_event_record(event->event, walk_now.queue[queue].queue) != REX_OK ||
        rex_queue_wait_event(walk_now.queue[who].queue, event->event) != REX_OK)
        walk_found("queue%d cannot wait for queue%d: %s", who, queue, rex_last_error());
    model_did(queue, NULL);
    model_record(queue, seen);
    model_wait(who, seen);
    model_did(who, NULL);
}

void walk_order(int who, const struct touches *touches)
{
    for (int queue = model_unseen(who, touches); queue >= 0; queue = model_unseen(who, touches))
        if (who == HOST)
            wait_here(queue);
        else
            wait_in(who, queue);
}

void walk_order_rows(int device, const struct walk_map *map, touch_rows *touch)
{
    struct touches touches = {.count = 0};
    if (map != NULL && !map->wrong)
        touch(&touches, device, map);
    walk_order(HOST, &touches);
}

void walk_order_memory(int memory, bool write)
{
    struct touches touches = {.count = 0};
    model_touch_memory(&touches, memory, write);
    walk_order(HOST, &touches);
}

void walk_order_host(int host, bool write)
{
    struct touches touches = {.count = 0};
    model_touch_host(&touches, host, write);
    walk_order(HOST, &touches);
}

/* ---- what a queue is told, done or kept ----------------------------------------------------- */

static struct captured *captured_in(const struct rex_graph *graph)
{
    for (int i = 0; graph != NULL && i < QUEUES + GRAPHS; i++)
        if (walk_now.captured[i].used && walk_now.captured[i].graph == graph)
            return &walk_now.captured[i];
    return NULL;
}

static void touch_command(struct touches *touches, int device, const struct command *command)
{
    switch (command->kind) {
    case LAUNCH: model_touch_copies(touches, device, &command->map); break;
    case LIBRARY_ADD:
    case COPY_TO:
        model_touch_host(touches, command->host, false);
        model_touch_memory(touches, command->memory, true);
        break;
    case COPY_FROM:
        model_touch_host(touches, command->host, true);
        model_touch_memory(touches, command->memory, false);
        break;
    case COPY_PEER:
        model_touch_memory(touches, command->memory, true);
        model_touch_memory(touches, command->from, false);
        break;
    case UPDATE: model_touch_update(touches, device, &command->map); break;
    case FILL: model_touch_memory(touches, command->memory, true); break;
    }
}

static void update(int device, const struct walk_map *map)
{
    for (int to = 1; to >= 0; to--)
        for (int i = 0; i < map->map.count; i++)
            model_update(device, &map->part[i], to ? REX_MAP_TO : REX_MAP_FROM);
}

static void do_command(int device, const struct command *command)
{
    switch (command->kind) {
    case LAUNCH:
        if (device < 0 || !model_all_mapped(device, &command->map))
            walk_found("a kernel was launched with memory that is not mapped");
        model_kernel(device, &command->map);
        break;
    case LIBRARY_ADD:
        model_add(command->memory, command->from, command->cells, command->a);
        break;
    case COPY_TO: model_copy_to(command->memory, command->host, command->size); break;
    case COPY_FROM: model_copy_from(command->memory, command->host, command->size); break;
    case COPY_PEER: model_copy_peer(command->memory, command->from, command->size); break;
    case UPDATE: update(device, &command->map); break;
    case FILL:
        model_fill(command->memory, &command->pattern, command->width, command->size);
        break;
    }
}

/* What the command needs is done before, unless it is captured. */
void walk_order_command(const struct walk_queue *queue, const struct command *command)
{
    struct touches touches = {.count = 0};
    if (queue == NULL || queue->captured >= 0)
        return;
    touch_command(&touches, queue->device, command);
    walk_order(number_of(queue), &touches);
}

/* QUEUE has taken COMMAND. */
void walk_took(const struct walk_queue *queue, const struct command *command)
{
    struct touches touches = {.count = 0};
    if (queue->captured < 0) {
        touch_command(&touches, queue->device, command);
        model_did(number_of(queue), &touches);
        do_command(queue->device, command);
        return;
    }
    struct captured *captured = &walk_now.captured[queue->captured];
    captured->launches += command->kind == LAUNCH || command->kind == LIBRARY_ADD;
    if (captured->count == COMMANDS)
        captured->overfull = true;
    else
        captured->command[captured->count++] = *command;
}

/* QUEUE has refused COMMAND, after it may have found that it works on some of the memory. */
static void refused(const struct walk_queue *queue, const struct command *command)
{
    struct touches touches = {.count = 0};
    touch_command(&touches, queue->device, command);
    model_did(number_of(queue), &touches);
}

/* ---- queues
 * ------------------------------------------------------------------------------------------- */

/* The call returned RESULT, and has stored MADE in queue NUMBER if it was RIGHT. */
static void keep_queue(struct call *call, int number, bool right, int result,
                       struct rex_queue *made)
{
    bool known = right && walk_is_registered() && walk_device(call, 2) >= 0 &&
                 walk_module(call, 1) == &walk_modules[0];
    if (walk_judge_int(call, result, !right ? MUST_FAIL : known ? MUST_WORK : EITHER))
        walk_now.queue[number] = (struct walk_queue){made, walk_device(call, 2), -1};
    else if (made != NULL)
        walk_found("it fails, and has stored a queue");
}

RULE(rex_module_queue_create, "QmdNfO", 7)
{
    int number = walk_variable(call, 0);
    struct rex_queue *made = NULL;
    void *default_stream = NULL;
    if (number >= 0 && walk_now.queue[number].queue != NULL)
        return;
    const struct rex_module *module = walk_module(call, 1);
    bool right = number >= 0 && (module == &walk_modules[0] || module == &walk_modules[3]) &&
                 walk_integer(call, 4) < 8;
    walk_before();
    int result = rex_module_queue_create(
        number >= 0 ? &made : NULL, walk_module(call, 1), walk_integer(call, 2),
        walk_string(call, 3), (unsigned)walk_integer(call, 4),
        walk_variable(call, 5) >= 0 ? &default_stream : NULL);
    keep_queue(call, number, right, result, made);
}

RULE(rex_queue_stream, "qSS", 1)
{
    void *stream = NULL, *context = NULL;
    const struct walk_queue *queue = walk_queue_of(call, 0);
    bool wrong = queue == NULL || walk_variable(call, 1) < 0 || !walk_settings.gpu ||
                 queue->device < 0 || queue->captured >= 0;
    walk_before();
    int result = rex_queue_stream(walk_queue(call, 0), walk_variable(call, 1) >= 0 ? &stream : NULL,
                                  walk_variable(call, 2) >= 0 ? &context : NULL);
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : MUST_WORK) &&
        (stream != NULL || context != NULL))
        walk_found("it fails, and has stored a stream");
}

/* It waits for what is in the queue. */
RULE(rex_queue_destroy, "q", 1)
{
    int number = walk_variable(call, 0);
    bool captured = walk_is_captured(walk_queue_of(call, 0));
    walk_before();
    int result = rex_queue_destroy(walk_queue(call, 0));
    walk_judge_int(call, result, captured ? MUST_FAIL : MUST_WORK);
    if (number < 0 || captured)
        return;
    walk_now.queue[number].queue = NULL;
    walk_wait_for_queue(number);
}

/* A kernel that follows a record's pointer needs it attached; memory is of one device. */
static bool may_launch(const struct walk_queue *queue, const struct walk_map *map)
{
    return map == NULL || map->wrong ||
           (queue->captured < 0 && model_is_attached(queue->device, map) &&
            !walk_has_types(map, REX_MAP_RETURN_PARAM) &&
            (map->memory < 0 || walk_now.memory[map->memory].device == queue->device)) ||
           (map->form != FORM_SUM && map->memory < 0 &&
            !walk_has_types(map, REX_MAP_RETURN_PARAM));
}

OWN_RULE(launch_in_queue, "mqkdttxM", 10)
{
    struct walk_queue *queue = walk_queue_of(call, 1);
    struct walk_map *map = walk_map_of(call, 7);
    int key = walk_kernel(call, 2, map), device = walk_device_of_queue(queue);
    struct rex_launch_config launch = {.key = walk_key(key),
                                       .device = walk_integer(call, 3),
                                       .teams = {(uint32_t)walk_integer(call, 4), 1, 1},
                                       .threads = {(uint32_t)walk_integer(call, 5), 1, 1},
                                       .flags = (uint32_t)walk_integer(call, 6)};
    if (queue == NULL || !walk_is_harmless(key, map) || !may_launch(queue, map))
        return;
    struct command command = {.kind = LAUNCH, .memory = -1, .from = -1, .map = {.memory = -1}};
    if (map != NULL)
        command.map = *map;
    if (key == NOTHING || map == NULL)
        command.map.form = FORM_NOTHING;
    bool wrong = walk_module(call, 0) != &walk_modules[0] ||
                 (map != NULL &&
                  (map->wrong ||
                   walk_has_types(map, REX_MAP_ALWAYS | REX_MAP_DELETE | REX_MAP_PRIVATE)));
    /* Where a graph would launch nothing, librex does not look which kernel it is. */
    bool is_nowhere = queue->captured >= 0 && device < 0;
    wrong |= !is_nowhere && (key < 0 || key >= KERNELS || !walk_fits(key, map));
    bool sure = !wrong && queue->captured < 0 && device >= 0 &&
                (launch.device == -1 || launch.device == device) && launch.teams[0] < 8 &&
                launch.threads[0] < 8 && launch.flags == 0 && !walk_has_empty(map);
    enum verdict verdict = wrong                                            ? MUST_FAIL
                           : !sure                                          ? EITHER
                           : map == NULL || model_all_mapped(device, map) ? MUST_WORK
                                                                            : MUST_FAIL;
    if (!wrong)
        walk_order_command(queue, &command);
    walk_before();
    int result =
        launch_module_in(queue->queue, walk_module(call, 0), &launch,
                         map != NULL ? &map->map : NULL);
    if (walk_judge_int(call, result, verdict))
        walk_took(queue, &command);
    else if (!wrong && queue->captured < 0)
        refused(queue, &command);
}

/* Copies and fills of device memory. */
bool walk_may_use(const struct walk_queue *queue, int memory, int64_t size)
{
    return memory < 0 || queue == NULL || walk_now.memory[memory].address == NULL ||
           (size <= walk_now.memory[memory].size &&
            queue->device == walk_now.memory[memory].device);
}

static bool has_bytes(int host, int64_t size)
{
    return host < 0 || size <= model_size(host);
}

/* To the device, or from it. */
static void copy(struct call *call, enum kind_of_command kind)
{
    const bool to = kind == COPY_TO;
    const struct walk_queue *queue = walk_queue_of(call, 0);
    const int memory = walk_variable(call, to ? 1 : 2), host = walk_variable(call, to ? 2 : 1);
    const struct command command = {.kind = kind, .memory = memory, .host = host, .from = -1,
                                    .size = (int)walk_integer(call, 3), .map = {.memory = -1}};
    const size_t size = (size_t)command.size;
    if (!walk_may_use(queue, memory, command.size) || !has_bytes(host, command.size))
        return;
    bool null = queue == NULL || (size > 0 && (host < 0 || memory < 0 ||
                                               walk_now.memory[memory].address == NULL));
    walk_order_command(queue, &command);
    walk_before();
    int result = to ? rex_queue_copy_to(walk_queue(call, 0), walk_memory_of(call, 1),
                                        walk_host_of(call, 2), size)
                    : rex_queue_copy_from(walk_queue(call, 0), walk_host_of(call, 1),
                                          walk_memory_of(call, 2), size);
    if (walk_judge_int(call, result, null                               ? MUST_FAIL
                                     : walk_device_of_queue(queue) >= 0 ? MUST_WORK
                                                                        : EITHER) &&
        size > 0)
        walk_took(queue, &command);
}

RULE(rex_queue_copy_to, "qyhs", 3)
{
    copy(call, COPY_TO);
}

RULE(rex_queue_copy_from, "qhys", 3)
{
    copy(call, COPY_FROM);
}

/* Within a device, or between two; the memory has to be of the devices that are named. */
static bool is_of(int memory, int64_t device, int64_t size)
{
    return memory < 0 || walk_now.memory[memory].address == NULL ||
           (walk_now.memory[memory].device == (device == -1 ? 0 : device) &&
            size <= walk_now.memory[memory].size);
}

RULE(rex_queue_copy_peer, "qydyds", 3)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    int to = walk_variable(call, 1), from = walk_variable(call, 3),
        device = walk_device_of_queue(queue);
    int64_t size = walk_integer(call, 5);
    if (to == from || walk_is_captured(queue) || !is_of(to, walk_integer(call, 2), size) ||
        !is_of(from, walk_integer(call, 4), size))
        return;
    struct command command = {.kind = COPY_PEER, .memory = to, .from = from, .host = -1,
                              .size = (int)size, .map = {.memory = -1}};
    bool wrong = queue == NULL ||
                 (size > 0 && (walk_memory_of(call, 1) == NULL || walk_memory_of(call, 3) == NULL));
    bool sure = device >= 0 && walk_device(call, 2) >= 0 && walk_device(call, 4) >= 0 &&
                (walk_device(call, 2) == device || walk_device(call, 4) == device);
    walk_order_command(queue, &command);
    walk_before();
    int result = rex_queue_copy_peer(walk_queue(call, 0), walk_memory_of(call, 1),
                                     walk_integer(call, 2), walk_memory_of(call, 3),
                                     walk_integer(call, 4), (size_t)size);
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : sure ? MUST_WORK : EITHER) && size > 0)
        walk_took(queue, &command);
}

RULE(rex_queue_fill, "qyhPs", 3)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    int memory = walk_variable(call, 1);
    int64_t width = walk_integer(call, 3), size = walk_integer(call, 4);
    if (!walk_may_use(queue, memory, size))
        return;
    struct command command = {.kind = FILL, .memory = memory, .host = -1, .from = -1,
                              .size = (int)size, .width = (int)width, .map = {.memory = -1}};
    walk_order_host(walk_variable(call, 2), false);
    if (walk_host_of(call, 2) != NULL)
        memcpy(&command.pattern, walk_host_of(call, 2), 4);
    bool wrong = queue == NULL || memory < 0 || walk_now.memory[memory].address == NULL ||
                 walk_host_of(call, 2) == NULL || (width != 1 && width != 2 && width != 4);
    walk_order_command(queue, &command);
    walk_before();
    int result = rex_queue_fill(walk_queue(call, 0), walk_memory_of(call, 1), walk_host_of(call, 2),
                                (size_t)width, (size_t)size);
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER))
        walk_took(queue, &command);
}

static void count_call(void *argument)
{
    int *calls = argument;
    if (calls != NULL)
        ++*calls;
}

RULE(rex_queue_host_func, "qA", 3)
{
    static int calls;
    const struct walk_queue *queue = walk_queue_of(call, 0);
    int function = walk_variable(call, 1);
    walk_before();
    int result = rex_queue_host_func(walk_queue(call, 0), function >= 0 ? count_call : NULL,
                                     function == 0 ? &calls : NULL);
    if (walk_judge_int(call, result, function < 0 || queue == NULL ? MUST_FAIL : EITHER) &&
        queue->captured < 0)
        model_did(number_of(queue), NULL);
}

/* A row without bytes, or of values, copies nothing. */
static void keep_copies(struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        if (map->part[i].size <= 0)
            map->part[i].host = -1;
}

RULE(rex_queue_update, "qM", 4)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    struct walk_map *map = walk_map_of(call, 1);
    struct command command = {.kind = UPDATE, .memory = -1, .from = -1, .map = {.memory = -1}};
    if (map != NULL && (map->form == FORM_SUM || walk_has_types(map, REX_MAP_RETURN_PARAM) ||
                        walk_has_types(map, REX_MAP_PTR_AND_OBJ)))
        return;
    bool wrong = queue == NULL || map == NULL || map->wrong;
    if (!wrong) {
        command.map = *map;
        keep_copies(&command.map);
        walk_order_command(queue, &command);
    }
    walk_before();
    int result = rex_queue_update(walk_queue(call, 0), map != NULL ? &map->map : NULL);
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER)) {
        if (!wrong && queue->captured < 0)
            refused(queue, &command);
        return;
    }
    for (int i = 0; i < command.map.map.count; i++)
        if ((command.map.part[i].type & REX_MAP_TOFROM) == 0)
            command.map.part[i].host = -1;
    if (queue->captured < 0 && queue->device >= 0 && !model_all_mapped(queue->device, &command.map))
        walk_found("it copies memory that is not mapped");
    walk_took(queue, &command);
}

RULE(rex_queue_sync, "q", 2)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    bool wrong = queue == NULL || queue->captured >= 0;
    walk_before();
    if (walk_judge_int(call, rex_queue_sync(walk_queue(call, 0)), wrong ? MUST_FAIL : MUST_WORK))
        walk_wait_for_queue(number_of(queue));
}

RULE(rex_queue_query, "q", 1)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    walk_before();
    int result = rex_queue_query(walk_queue(call, 0));
    if (walk_judge_int(call, result, queue == NULL           ? MUST_FAIL
                                     : queue->captured < 0 ? MUST_WORK
                                                           : EITHER) &&
        result == 1 && queue->captured < 0)
        walk_wait_for_queue(number_of(queue));
}

RULE(rex_queue_device, "q", 1)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    walk_before();
    int device = rex_queue_device(walk_queue(call, 0));
    if (walk_judge_int(call, device, queue == NULL ? MUST_FAIL : MUST_WORK) && queue->device >= 0 &&
        device != queue->device)
        walk_found("it says %d of device %d", device, queue->device);
}

RULE(rex_queue_is_synchronous, "q", 1)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    walk_before();
    bool immediate = rex_queue_is_synchronous(walk_queue(call, 0));
    if (walk_judge(call, queue == NULL, 0, EITHER) && immediate == walk_settings.gpu &&
        walk_device_of_queue(queue) >= 0)
        walk_found("it says %d", immediate);
}

RULE(rex_module_queue_global, "mqk", 1)
{
    walk_before();
    void *address =
        rex_module_queue_global(walk_module(call, 0), walk_queue(call, 1),
                                walk_key(walk_kernel(call, 2, NULL)));
    bool wrong = walk_queue(call, 1) == NULL || walk_module(call, 0) != &walk_modules[3] ||
                 walk_kernel(call, 2, NULL) != GLOBAL;
    walk_judge(call, address == NULL, 0, wrong ? MUST_FAIL : EITHER);
}

/* ---- events --------------------------------------------------------------------------------- */

RULE(rex_event_create, "E", 4)
{
    int number = walk_variable(call, 0);
    struct rex_event *made = NULL;
    if (number >= 0 && walk_now.event[number].event != NULL)
        return;
    walk_before();
    if (walk_judge_int(call, rex_event_create(number >= 0 ? &made : NULL),
                       number < 0 ? MUST_FAIL : MUST_WORK))
        walk_now.event[number] = (struct walk_event){.event = made, .captured = -1};
}

RULE(rex_event_destroy, "e", 1)
{
    int number = walk_variable(call, 0);
    walk_before();
    rex_event_destroy(walk_event(call, 0));
    walk_judge(call, false, 0, MUST_WORK);
    if (number >= 0)
        walk_now.event[number].event = NULL;
}

RULE(rex_event_record, "eq", 5)
{
    struct walk_event *event = walk_event_of(call, 0);
    const struct walk_queue *queue = walk_queue_of(call, 1);
    bool null = event == NULL || queue == NULL;
    walk_before();
    int result = rex_event_record(walk_event(call, 0), walk_queue(call, 1));
    if (!walk_judge_int(call, result, null                  ? MUST_FAIL
                                      : queue->captured < 0 ? MUST_WORK
                                                            : EITHER))
        return;
    event->captured = queue->captured;
    memset(event->seen, 0, sizeof event->seen);
    if (queue->captured < 0) {
        model_did(number_of(queue), NULL);
        model_record(number_of(queue), event->seen);
    }
}

static bool is_going_on(int captured)
{
    return captured >= 0 && captured != GONE && walk_now.captured[captured].used &&
           walk_now.captured[captured].graph == NULL;
}

/* A queue that is to be captured has nothing left to do: no event could say so any more. */
static void settle(int queue)
{
    if (model_has_unseen(queue))
        wait_here(queue);
}

RULE(rex_queue_wait_event, "qe", 4)
{
    const struct walk_event *event = walk_event_of(call, 1);
    struct walk_queue *queue = walk_queue_of(call, 0);
    bool joins = event != NULL && queue != NULL && queue->captured < 0 &&
                 is_going_on(event->captured);
    if (joins)
        settle(number_of(queue));
    walk_before();
    int result = rex_queue_wait_event(walk_queue(call, 0), walk_event(call, 1));
    bool null = event == NULL || queue == NULL;
    if (!walk_judge_int(call, result, null ? MUST_FAIL : EITHER))
        return;
    if (joins)
        queue->captured = event->captured;
    else if (queue->captured < 0) {
        model_wait(number_of(queue), event->seen);
        model_did(number_of(queue), NULL);
    }
}

RULE(rex_event_sync, "e", 2)
{
    const struct walk_event *event = walk_event_of(call, 0);
    walk_before();
    int result = rex_event_sync(walk_event(call, 0));
    if (walk_judge_int(call, result, event == NULL ? MUST_FAIL : EITHER) && event->captured < 0)
        model_wait(HOST, event->seen);
}

RULE(rex_event_query, "e", 2)
{
    const struct walk_event *event = walk_event_of(call, 0);
    walk_before();
    int result = rex_event_query(walk_event(call, 0));
    if (!walk_judge_int(call, result, event == NULL ? MUST_FAIL : EITHER))
        return;
    if (result > 1)
        walk_found("it returns %d", result);
    if (result == 1 && event->captured < 0)
        model_wait(HOST, event->seen);
}

RULE(rex_event_elapsed, "See", 2)
{
    double seconds = -77.0;
    struct rex_event *begin = walk_event(call, 1), *end = walk_event(call, 2);
    bool null = walk_variable(call, 0) < 0 || begin == NULL || end == NULL;
    walk_before();
    bool worked = walk_judge_int(
        call, rex_event_elapsed(walk_variable(call, 0) >= 0 ? &seconds : NULL, begin, end),
        null ? MUST_FAIL : EITHER);
    if (!worked && seconds != -77.0)
        walk_found("it fails, and has stored %g seconds", seconds);
}

/* ---- graphs --------------------------------------------------------------------------------- */

static struct rex_graph *graph_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? walk_now.graph[number] : NULL;
}

RULE(rex_graph_begin, "q", 4)
{
    struct walk_queue *queue = walk_queue_of(call, 0);
    bool wrong = queue == NULL || queue->captured >= 0;
    int free = -1;
    for (int i = 0; i < QUEUES + GRAPHS; i++)
        if (!walk_now.captured[i].used)
            free = i;
    if (free < 0)
        return;
    if (!wrong)
        settle(number_of(queue));
    walk_before();
    if (!walk_judge_int(call, rex_graph_begin(walk_queue(call, 0)), wrong ? MUST_FAIL : MUST_WORK))
        return;
    walk_now.captured[free] =
        (struct captured){.used = true, .device = queue->device, .queue = number_of(queue)};
    queue->captured = free;
}

/* The capture is over, and no queue or event is in it. */
static void leave_capture(int captured)
{
    for (int i = 0; i < QUEUES; i++)
        if (walk_now.queue[i].queue != NULL && walk_now.queue[i].captured == captured)
            walk_now.queue[i].captured = -1;
}

/* The number stands for another capture next. */
static void forget_events(int captured)
{
    for (int i = 0; i < EVENTS; i++)
        if (walk_now.event[i].captured == captured)
            walk_now.event[i].captured = GONE;
}

RULE(rex_graph_end, "Gq", 4)
{
    int number = walk_variable(call, 0);
    struct rex_graph *made = NULL;
    const struct walk_queue *queue = walk_queue_of(call, 1);
    if (number >= 0 && walk_now.graph[number] != NULL)
        return;
    int captured = queue != NULL ? queue->captured : -1;
    bool wrong = captured < 0 || walk_now.captured[captured].queue != number_of(queue);
    walk_before();
    int result = rex_graph_end(number >= 0 ? &made : NULL, walk_queue(call, 1));
    if (walk_judge_int(call, result, number < 0 || wrong ? MUST_FAIL : EITHER)) {
        walk_now.graph[number] = made;
        walk_now.captured[captured].graph = made;
        leave_capture(captured);
        return;
    }
    if (made != NULL)
        walk_found("it fails, and has stored a graph");
    if (!wrong && number >= 0) {
        walk_now.captured[captured].used = false;
        leave_capture(captured);
        forget_events(captured);
    }
}

RULE(rex_graph_destroy, "g", 1)
{
    int number = walk_variable(call, 0);
    struct rex_graph *graph = graph_of(call, 0);
    struct captured *captured = captured_in(graph);
    walk_before();
    rex_graph_destroy(graph);
    walk_judge(call, false, 0, MUST_WORK);
    if (number >= 0)
        walk_now.graph[number] = NULL;
    if (captured != NULL) {
        captured->used = false;
        forget_events((int)(captured - walk_now.captured));
    }
}

RULE(rex_graph_launches, "g", 1)
{
    struct rex_graph *graph = graph_of(call, 0);
    const struct captured *captured = captured_in(graph);
    walk_before();
    size_t launches = rex_graph_launches(graph);
    if (walk_judge(call, graph == NULL, 0, EITHER) && (int)launches != captured->launches)
        walk_found("it says %zu launches of %d", launches, captured->launches);
}

/* Whether each kernel finds what it works on: the pointers of records are not looked at. */
static bool is_ready(const struct captured *captured)
{
    for (int i = 0; i < captured->count; i++) {
        const struct command *command = &captured->command[i];
        if (command->kind == LAUNCH && !model_is_attached(captured->device, &command->map))
            return false;
    }
    return true;
}

RULE(rex_graph_launch, "gq", 5)
{
    struct rex_graph *graph = graph_of(call, 0);
    struct walk_queue *queue = walk_queue_of(call, 1);
    const struct captured *captured = captured_in(graph);
    bool wrong = graph == NULL || queue == NULL || queue->captured >= 0 ||
                 queue->device != captured->device;
    struct touches touches = {.count = 0};
    if (!wrong && (captured->overfull || !is_ready(captured)))
        return;
    for (int i = 0; !wrong && i < captured->count; i++)
        touch_command(&touches, captured->device, &captured->command[i]);
    if (!wrong)
        walk_order(number_of(queue), &touches);
    walk_before();
    int result = rex_graph_launch(graph, walk_queue(call, 1));
    bool worked = walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER);
    if (worked)
        model_did(number_of(queue), &touches);
    for (int i = 0; worked && i < captured->count; i++)
        do_command(captured->device, &captured->command[i]);
    /* Where it fails on the host device, some of it may have been done. */
    if (!worked && !wrong)
        model_forget();
}

RULE(rex_graph_set_args, "gIM", 4)
{
    struct rex_graph *graph = graph_of(call, 0);
    struct captured *captured = captured_in(graph);
    struct walk_map *map = walk_map_of(call, 2);
    int64_t launch = walk_integer(call, 1), at = 0;
    if (captured != NULL && captured->overfull)
        return;
    struct command *command = NULL;
    for (int i = 0; captured != NULL && i < captured->count && command == NULL; i++)
        if ((captured->command[i].kind == LAUNCH || captured->command[i].kind == LIBRARY_ADD) &&
            at++ == launch)
            command = &captured->command[i];
    if (command != NULL && command->kind == LIBRARY_ADD)
        return;
    bool harmless = command == NULL || command->map.form == FORM_NOTHING ||
                    (map != NULL &&
                     (map->wrong || map->mixed || map->form == command->map.form));
    if (!harmless || (map != NULL && (map->memory >= 0 || map->form == FORM_SUM ||
                                      walk_has_types(map, REX_MAP_RETURN_PARAM))))
        return;
    walk_before();
    int result = rex_graph_set_args(graph, (size_t)launch, map != NULL ? &map->map : NULL);
    bool wrong = graph == NULL || launch < 0 || command == NULL ||
                 (map != NULL && (map->wrong || map->mixed));
    if (!walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER) || command == NULL)
        return;
    enum form form = command->map.form;
    static const struct walk_map nothing = {.memory = -1};
    command->map = map != NULL ? *map : nothing;
    command->map.form = form;
}
