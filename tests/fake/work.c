/*
 * work.c - what is put in the streams of the fake CUDA driver, and graphs of it.
 *
 * By default all is done when it is put there. With FAKE_CUDA_ORDER=late nothing is done before somebody waits for it, or asks again and
 * again whether it is done: who needs an order must have said so with an event. What a stream waits for is done first, whatever it is in.
 * A kernel called `hold` is not done before the word at its first parameter is set; nor, in its stream, is what comes after it.
 *
 * As with the real driver, pageable memory that goes to the device is read when the copy is put in a stream, and where such memory is to be
 * written the call waits; pinned memory is read and written when the device gets there. A graph does what it has in the order of its
 * making.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum kind { COPY, FILL, CALL, LAUNCH, RECORD, WAIT };

/* A place in a stream's order. */
struct fake_mark {
    int users;
    bool done;
    struct fake_object *stream;
};

struct fake_step {
    struct fake_step *next;
    enum kind kind;
    size_t number; /* in a graph */
    void *to;
    const void *from;
    void *own; /* bytes that the step has for itself */
    size_t size;
    unsigned value, width;
    void (*function)(void *argument);
    void *argument;
    struct fake_launch launch;
    struct fake_mark *mark;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_object *streams;

static bool is_late(void)
{
    const char *order = getenv("FAKE_CUDA_ORDER");
    return order != NULL && strcmp(order, "late") == 0;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------------ */

static void drop_mark(struct fake_mark *mark)
{
    if (mark != NULL && --mark->users == 0)
        free(mark);
}

static void drop_step(struct fake_step *step)
{
    drop_mark(step->mark);
    free(step->own);
    free(step);
}

static size_t width_of(const struct fake_launch *launch, size_t parameter)
{
    return launch->widths != NULL ? launch->widths[parameter] : 8;
}

static void *own_parameters(const struct fake_launch *launch)
{
    size_t size = 0;
    for (size_t i = 0; i < launch->count; i++)
        size += sizeof(void *) + (width_of(launch, i) + 15) / 16 * 16 + 16;
    return size > 0 ? calloc(1, size) : NULL;
}

/* The step's launch gets parameters of its own. */
static void copy_parameters(struct fake_step *step)
{
    struct fake_launch *launch = &step->launch;
    step->own = own_parameters(launch);
    void **parameters = step->own;
    if (parameters != NULL) {
        char *at = (char *)(parameters + (launch->count + 1) / 2 * 2);
        for (size_t i = 0; i < launch->count; at += (width_of(launch, i) + 15) / 16 * 16, i++) {
            memcpy(at, launch->parameters[i], width_of(launch, i));
            parameters[i] = at;
        }
    }
    launch->parameters = parameters;
}

static struct fake_step *new_step(enum kind kind)
{
    struct fake_step *step = calloc(1, sizeof *step);
    if (step == NULL)
        abort();
    step->kind = kind;
    return step;
}

static struct fake_step *copy_of(const struct fake_step *step)
{
    struct fake_step *copy = new_step(step->kind);
    *copy = *step;
    copy->next = NULL;
    copy->own = NULL;
    if (copy->kind == LAUNCH)
        copy_parameters(copy);
    return copy;
}

static void fill(const struct fake_step *step)
{
    for (size_t i = 0; i < step->size; i++) /* little-endian */
        memcpy((char *)step->to + i * step->width, &step->value, step->width);
}

extern int fake_cuda_lost;

/* Attributes of the last kernel that ran: whether it was cooperative, and the blocks of a cluster; 0: it had none. */
int fake_cuda_cooperative;
unsigned fake_cuda_cluster[3];

static void compute(const struct fake_launch *launch)
{
    __atomic_store_n(&fake_cuda_cooperative, launch->is_cooperative, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        __atomic_store_n(&fake_cuda_cluster[i], launch->cluster[i], __ATOMIC_RELAXED);
    if (launch->code != NULL && !fake_image_run(launch))
        __atomic_store_n(&fake_cuda_lost, 700, __ATOMIC_RELAXED); /* CUDA_ERROR_ILLEGAL_ADDRESS */
    else if (launch->code == NULL && launch->call != NULL)
        launch->call(launch->grid, launch->block, launch->parameters);
}

static void do_step(const struct fake_step *step)
{
    switch (step->kind) {
    case COPY: memmove(step->to, step->own != NULL ? step->own : step->from, step->size); break;
    case FILL: fill(step); break;
    case CALL: step->function(step->argument); break;
    case LAUNCH: compute(&step->launch); break;
    default: break;
    }
}

/* ---- in order --------------------------------------------------------------------------------------------------------------------- */

static bool finish_mark(struct fake_mark *mark, bool waits);

/* What comes before the step is done, or else the caller waits for it; false: it does not wait, and the step is not ready. */
static bool make_ready(const struct fake_step *step, bool waits)
{
    bool ready = step->kind != WAIT || finish_mark(step->mark, waits);
    while (ready && step->kind == LAUNCH && fake_image_holds(&step->launch)) {
        if (!waits)
            return false;
        pthread_mutex_unlock(&lock);
        usleep(1000);
        pthread_mutex_lock(&lock);
    }
    return ready;
}

/* Do the stream's first step, if it is ready, and say so; the lock is not held meanwhile, and held again after it. */
static bool do_first(struct fake_object *stream, bool waits)
{
    struct fake_step *step = stream->first;
    stream->is_running = true;
    bool ready = make_ready(step, waits);
    if (ready) {
        stream->first = step->next;
        if (stream->first == NULL)
            stream->end = &stream->first;
        pthread_mutex_unlock(&lock);
        do_step(step);
        pthread_mutex_lock(&lock);
        if (step->kind == RECORD)
            step->mark->done = true;
        drop_step(step);
    }
    stream->is_running = false;
    pthread_cond_broadcast(&changed);
    return ready;
}

/* Do something in the stream, or wait until somebody else has; whether there was something that could be done. */
static bool go_on(struct fake_object *stream, bool waits)
{
    if (stream->is_running)
        pthread_cond_wait(&changed, &lock);
    else
        return stream->first != NULL && do_first(stream, waits);
    return true;
}

static bool finish_mark(struct fake_mark *mark, bool waits)
{
    while (!mark->done && go_on(mark->stream, waits))
        ;
    return mark->done || mark->stream->first == NULL;
}

static void finish_locked(struct fake_object *stream, bool waits)
{
    while (go_on(stream, waits))
        ;
}

void fake_finish(struct fake_object *stream)
{
    pthread_mutex_lock(&lock);
    finish_locked(stream, true);
    pthread_mutex_unlock(&lock);
}

static struct fake_object *unfinished(bool blocking_alone)
{
    struct fake_object *stream = streams;
    while (stream != NULL && ((stream->first == NULL && !stream->is_running) || (blocking_alone && !stream->is_blocking)))
        stream = stream->next;
    return stream;
}

void fake_finish_all(bool blocking_alone)
{
    pthread_mutex_lock(&lock);
    for (struct fake_object *stream = unfinished(blocking_alone); stream != NULL; stream = unfinished(blocking_alone))
        go_on(stream, true);
    pthread_mutex_unlock(&lock);
}

void fake_finish_event(struct fake_object *event)
{
    pthread_mutex_lock(&lock);
    struct fake_mark *mark = event->mark;
    if (mark != NULL) {
        mark->users++;
        finish_mark(mark, true);
        drop_mark(mark);
    }
    pthread_mutex_unlock(&lock);
}

bool fake_advance(struct fake_object *stream)
{
    pthread_mutex_lock(&lock);
    if (!stream->is_running && stream->first != NULL)
        do_first(stream, false);
    bool idle = stream->first == NULL && !stream->is_running;
    pthread_mutex_unlock(&lock);
    return idle;
}

bool fake_advance_event(struct fake_object *event)
{
    pthread_mutex_lock(&lock);
    struct fake_mark *mark = event->mark;
    if (mark != NULL && !mark->done && !mark->stream->is_running && mark->stream->first != NULL)
        do_first(mark->stream, false);
    bool done = event->mark == NULL || event->mark->done;
    pthread_mutex_unlock(&lock);
    return done;
}

/* ---- putting ---------------------------------------------------------------------------------------------------------------------- */

static void append(struct fake_step ***end, struct fake_step *step)
{
    **end = step;
    *end = &step->next;
}

static void *add_node(struct fake_object *graph, struct fake_step *step)
{
    step->number = graph->nodes++;
    append(&graph->node_end, step);
    return step;
}

static int put_locked(struct fake_object *stream, struct fake_step *step)
{
    if (stream->graph != NULL) {
        stream->last[0] = add_node(stream->graph, step);
        stream->lasts = 1;
        stream->is_apart = stream != stream->graph->began;
        return 0;
    }
    append(&stream->end, step);
    if (!is_late())
        finish_locked(stream, false);
    return 0;
}

static int put(struct fake_object *stream, struct fake_step *step)
{
    pthread_mutex_lock(&lock);
    int result = put_locked(stream, step);
    pthread_mutex_unlock(&lock);
    return result;
}

/* TO and FROM are where the bytes are, also those of device memory. */
int fake_put_copy(struct fake_object *stream, void *to, const void *from, size_t size)
{
    bool is_captured = stream->graph != NULL;
    struct fake_step *step = new_step(COPY);
    step->to = to;
    step->from = from;
    step->size = size;
    if (!is_captured && fake_is_unpinned(from) && (step->own = malloc(size + 1)) != NULL)
        memcpy(step->own, from, size);
    int result = put(stream, step);
    if (!is_captured && fake_is_unpinned(to))
        fake_finish(stream);
    return result;
}

int fake_put_fill(struct fake_object *stream, void *to, unsigned value, unsigned width, size_t count)
{
    struct fake_step *step = new_step(FILL);
    step->to = to;
    step->value = value;
    step->width = width;
    step->size = count;
    return put(stream, step);
}

int fake_put_call(struct fake_object *stream, void (*function)(void *argument), void *argument)
{
    struct fake_step *step = new_step(CALL);
    step->function = function;
    step->argument = argument;
    return put(stream, step);
}

static struct fake_step *launch_step(const struct fake_launch *launch)
{
    struct fake_step *step = new_step(LAUNCH);
    step->launch = *launch;
    copy_parameters(step);
    return step;
}

int fake_put_launch(struct fake_object *stream, const struct fake_launch *launch)
{
    return put(stream, launch_step(launch));
}

/* ---- events ----------------------------------------------------------------------------------------------------------------------- */

static void *last_of(const struct fake_object *stream)
{
    return stream->lasts > 0 ? stream->last[0] : NULL;
}

static void record_in_capture(struct fake_object *stream, struct fake_object *event)
{
    event->graph = stream->graph;
    event->node = last_of(stream);
    event->in = stream;
}

int fake_put_record(struct fake_object *stream, struct fake_object *event)
{
    pthread_mutex_lock(&lock);
    if (stream->graph != NULL) {
        record_in_capture(stream, event);
    } else {
        struct fake_step *step = new_step(RECORD);
        struct fake_mark *mark = calloc(1, sizeof *mark);
        if (mark == NULL)
            abort();
        *mark = (struct fake_mark){2, false, stream};
        drop_mark(event->mark);
        event->graph = NULL;
        event->mark = step->mark = mark;
        put_locked(stream, step);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The stream takes part in the capture that the event was recorded in. */
static void join_capture(struct fake_object *stream, const struct fake_object *event)
{
    stream->is_apart |= stream->graph == NULL;
    stream->graph = event->graph;
    if (stream == stream->graph->began && event->node == last_of(event->in))
        event->in->is_apart = false;
    if (event->node != NULL && stream->lasts < sizeof stream->last / sizeof *stream->last)
        stream->last[stream->lasts++] = event->node;
}

int fake_put_wait(struct fake_object *stream, struct fake_object *event)
{
    pthread_mutex_lock(&lock);
    if (event->graph != NULL) {
        join_capture(stream, event);
    } else if (event->mark != NULL && !event->mark->done && stream->graph == NULL) {
        struct fake_step *step = new_step(WAIT);
        step->mark = event->mark;
        step->mark->users++;
        put_locked(stream, step);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

void fake_event_close(struct fake_object *event)
{
    pthread_mutex_lock(&lock);
    drop_mark(event->mark);
    pthread_mutex_unlock(&lock);
}

/* ---- streams ---------------------------------------------------------------------------------------------------------------------- */

void fake_stream_open(struct fake_object *stream, unsigned flags)
{
    pthread_mutex_lock(&lock);
    stream->is_blocking = (flags & 1) == 0; /* CU_STREAM_NON_BLOCKING */
    stream->end = &stream->first;
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&lock);
}

/* What is in it is done all the same. */
void fake_stream_close(struct fake_object *stream)
{
    struct fake_object **place = &streams;
    pthread_mutex_lock(&lock);
    finish_locked(stream, true);
    while (*place != NULL && *place != stream)
        place = &(*place)->next;
    if (*place != NULL)
        *place = stream->next;
    pthread_mutex_unlock(&lock);
}

/* ---- graphs ----------------------------------------------------------------------------------------------------------------------- */

static void leave_captures_of(const struct fake_object *graph)
{
    for (struct fake_object *stream = streams; stream != NULL; stream = stream->next)
        if (stream->graph == graph) {
            stream->graph = NULL;
            stream->lasts = 0;
            stream->is_apart = false;
        }
}

int fake_capture_begin(struct fake_object *stream, struct fake_object *graph)
{
    pthread_mutex_lock(&lock);
    bool is_captured = stream->graph != NULL;
    if (!is_captured) {
        stream->graph = graph;
        graph->began = stream;
    }
    pthread_mutex_unlock(&lock);
    return is_captured ? 401 : 0; /* CUDA_ERROR_ILLEGAL_STATE */
}

bool fake_capture_is_joined(const struct fake_object *stream)
{
    pthread_mutex_lock(&lock);
    const struct fake_object *each = streams;
    while (each != NULL && (each->graph != stream->graph || !each->is_apart))
        each = each->next;
    pthread_mutex_unlock(&lock);
    return each == NULL;
}

struct fake_object *fake_capture_end(struct fake_object *stream)
{
    pthread_mutex_lock(&lock);
    struct fake_object *graph = stream->graph;
    leave_captures_of(graph);
    pthread_mutex_unlock(&lock);
    return graph;
}

void fake_graph_close(struct fake_object *graph)
{
    for (struct fake_step *step = graph->node_first, *next; step != NULL; step = next) {
        next = step->next;
        drop_step(step);
    }
}

void fake_instantiate(struct fake_object *executable, const struct fake_object *graph)
{
    for (const struct fake_step *step = graph->node_first; step != NULL; step = step->next)
        add_node(executable, copy_of(step));
}

int fake_set_launch(struct fake_object *executable, const void *node, const struct fake_launch *launch)
{
    struct fake_step *step = executable->node_first;
    while (step != NULL && step->number != ((const struct fake_step *)node)->number)
        step = step->next;
    if (step == NULL || step->kind != LAUNCH)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    free(step->own);
    struct fake_launch other = *launch;
    /* CUDA_KERNEL_NODE_PARAMS have no attributes: those of the node stay. */
    other.is_cooperative = step->launch.is_cooperative;
    memcpy(other.cluster, step->launch.cluster, sizeof other.cluster);
    step->launch = other;
    copy_parameters(step);
    return 0;
}

int fake_put_graph(struct fake_object *stream, const struct fake_object *executable)
{
    pthread_mutex_lock(&lock);
    for (const struct fake_step *step = executable->node_first; step != NULL; step = step->next)
        put_locked(stream, copy_of(step));
    pthread_mutex_unlock(&lock);
    return 0;
}
