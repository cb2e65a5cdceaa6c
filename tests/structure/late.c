/*
 * late.c - preloaded, makes the queues of an example program as late as a GPU's may be: launches, copies and updates are written down,
 * and done when a queue is waited for, that queue's first and of the others only what its waits for events ask for. What is ordered by
 * luck alone gives other results then. With LATE=backwards all queues are done, the last one first.
 *
 * Queues of libomptarget's host device do everything at once, so the calls are made in the order that was found here.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define REX_BUILDING_LIBRARY
#include "rex/interop.h"

enum { MOST = 16 };

enum what { LAUNCH, UPDATE, COPY, WAIT };

struct step {
    enum what what;
    struct step *next;
    struct rex_module *module;
    struct rex_launch_config launch;
    struct rex_map map; /* with columns of its own */
    void *to;
    const void *from;
    int64_t to_device, from_device;
    size_t size;
    int other;    /* queue that it waits for */
    size_t until; /* and so many of its steps */
};

static struct late {
    struct rex_queue *queue;
    struct step *first, **end;
    size_t put, done;
} queues[MOST];

static struct {
    struct rex_event *event;
    int queue;
    size_t put; /* what it stands for */
} events[MOST];

static void *next(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address == NULL)
        abort();
    return address;
}
/* Sets the local variable real to the library's own function. */
#define REAL(name)                         \
    __typeof__(name) *real;                \
    void *address_of_real = next(#name);   \
    memcpy(&real, &address_of_real, sizeof real)

static int number_of(struct rex_queue *queue)
{
    int i = 0;
    while (queues[i].queue != NULL && queues[i].queue != queue)
        if (++i == MOST)
            abort();
    if (queues[i].queue == NULL) {
        queues[i].queue = queue;
        queues[i].end = &queues[i].first;
    }
    return i;
}

static int place_of(struct rex_event *event)
{
    int i = 0;
    while (events[i].event != NULL && events[i].event != event)
        if (++i == MOST)
            abort();
    events[i].event = event;
    return i;
}

/* ---- writing down ------------------------------------------------------------------------------------------------------------------ */

static struct step *put(struct rex_queue *queue, enum what what)
{
    struct late *late = &queues[number_of(queue)];
    struct step *step = calloc(1, sizeof *step);
    if (step == NULL)
        abort();
    step->what = what;
    *late->end = step;
    late->end = &step->next;
    late->put++;
    return step;
}

static void *copied(const void *column, size_t size)
{
    void *copy = column != NULL ? malloc(size) : NULL;
    return copy != NULL ? memcpy(copy, column, size) : NULL;
}

static struct rex_map copied_map(const struct rex_map *map)
{
    struct rex_map copy = *map;
    size_t size = (size_t)map->count * 8;
    copy.base = copied(map->base, size);
    copy.begin = copied(map->begin, size);
    copy.sizes = copied(map->sizes, size);
    copy.types = copied(map->types, size);
    return copy;
}

int rex_module_launch_map(struct rex_module *module, const struct rex_launch_config *launch, const struct rex_map *map)
{
    REAL(rex_module_launch_map);
    if (launch->queue == NULL)
        return real(module, launch, map);
    struct step *step = put(launch->queue, LAUNCH);
    step->module = module;
    step->launch = *launch;
    step->map = copied_map(map);
    return 0;
}

int rex_queue_update(struct rex_queue *queue, const struct rex_map *map)
{
    put(queue, UPDATE)->map = copied_map(map);
    return 0;
}

int rex_queue_copy_peer(struct rex_queue *queue, void *to, int64_t to_device, const void *from, int64_t from_device, size_t size)
{
    struct step *step = put(queue, COPY);
    step->to = to;
    step->to_device = to_device;
    step->from = from;
    step->from_device = from_device;
    step->size = size;
    return 0;
}

int rex_event_record(struct rex_event *event, struct rex_queue *queue)
{
    int place = place_of(event);
    events[place].queue = number_of(queue);
    events[place].put = queues[events[place].queue].put;
    return 0;
}

int rex_queue_wait_event(struct rex_queue *queue, struct rex_event *event)
{
    int place = place_of(event);
    struct step *step = put(queue, WAIT);
    step->other = events[place].queue;
    step->until = events[place].put;
    return 0;
}

/* ---- doing ------------------------------------------------------------------------------------------------------------------------- */

static int do_step(struct rex_queue *queue, const struct step *step)
{
    if (step->what == LAUNCH) {
        REAL(rex_module_launch_map);
        return real(step->module, &step->launch, &step->map);
    }
    if (step->what == UPDATE) {
        REAL(rex_queue_update);
        return real(queue, &step->map);
    }
    REAL(rex_queue_copy_peer);
    return real(queue, step->to, step->to_device, step->from, step->from_device, step->size);
}

static int run(int number, size_t until)
{
    struct late *late = &queues[number];
    int result = 0;
    while (late->done < until && result == 0) {
        struct step *step = late->first;
        result = step->what == WAIT ? run(step->other, step->until) : do_step(late->queue, step);
        late->done++;
        late->first = step->next;
        if (late->first == NULL)
            late->end = &late->first;
        free(step->map.base);
        free(step->map.begin);
        free(step->map.sizes);
        free(step->map.types);
        free(step);
    }
    return result;
}

int rex_queue_sync(struct rex_queue *queue)
{
    const char *late = getenv("LATE");
    int result = 0;
    REAL(rex_queue_sync);
    for (int i = MOST; late != NULL && strcmp(late, "backwards") == 0 && i-- > 0 && result == 0;)
        result = run(i, queues[i].put);
    if (result == 0)
        result = run(number_of(queue), queues[number_of(queue)].put);
    return result == 0 ? real(queue) : result;
}
