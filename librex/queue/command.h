/*
 * command.h - commands, which are put in a queue or captured into a graph, and events.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COMMAND_H
#define REX_INTERNAL_COMMAND_H

#include <pthread.h>
#include <time.h>

#include "base/pool.h"
#include "launch/pack.h"
#include "memory/fill.h"
#include "rex/queue.h"

enum rex_command_kind {
    REX_COMMAND_LAUNCH,
    REX_COMMAND_COPY_TO,
    REX_COMMAND_COPY_FROM,
    REX_COMMAND_COPY_PEER,
    REX_COMMAND_FILL,
    REX_COMMAND_CALL,
    REX_COMMAND_RECORD,
    REX_COMMAND_WAIT,
    REX_COMMAND_GRAPH
};

/* Its pointers belong to the caller, or, in a graph, to the graph. */
struct rex_command {
    enum rex_command_kind kind;
    uint32_t lane; /* in a graph: the number of its queue */
    union {
        struct {
            struct rex_module *module;
            struct rex_launch_config description;
            struct rex_map map;
            void *memory; /* in a graph: of the map's columns and values; free() it */
        } launch;
        struct {
            void *host;
            void *device; /* NULL: the memory to which `host` is mapped */
            size_t size;
        } copy;
        struct {
            void *to;
            const void *from;
            size_t size;
            int to_device, from_device;
        } peer;
        struct rex_fill fill;
        struct {
            void (*function)(void *argument);
            void *argument;
        } call;
        struct {
            struct rex_event *event; /* NULL in a graph */
            uint32_t point;          /* in a graph: the number of the event recorded there */
        } event;
        struct rex_graph *graph; /* locked; never in a graph */
    };
};

/* The device of COMMAND, a copy between devices, that is not NUMBER; NUMBER if both are. */
static inline int rex_command_other(const struct rex_command *command, int number)
{
    return command->peer.to_device == number ? command->peer.from_device : command->peer.to_device;
}

/*
 * Put COMMAND in STREAM. The context is current. Returns 0 or an error. A launch writes its kernel
 * to *KERNEL; other commands do not change it.
 */
int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel);

/* Whether device NUMBER of an immediate queue is the host, where an update has nothing to copy. */
bool rex_is_nowhere(int number);

/* Do COMMAND now on device NUMBER. Returns 0 or an error. */
int rex_command_do(int number, const struct rex_command *command);

/*
 * Check whether COMMAND could be captured for the GPU, or, if IMMEDIATE, for a device that does all
 * commands at once. Returns 0 or an error.
 */
int rex_command_check(struct rex_stream_gpu *gpu, bool immediate,
                      const struct rex_command *command);

/* Copy the map of COMMAND, a launch, to memory of its own. Returns 0 or an error. */
int rex_command_own_map(struct rex_command *command);

/* ---- events ---------------------------------------------------------------------------------- */

enum rex_event_state { REX_EVENT_NEW, REX_EVENT_TIMED, REX_EVENT_DRIVER, REX_EVENT_GRAPH };

/*
 * The driver's event for one context. It never changes and lasts as long as its event, because
 * threads may be waiting for it.
 */
struct rex_driver_event {
    struct rex_driver_event *next;
    void *handle;  /* the driver's event */
    void *context; /* the context of `handle` */
    int ordinal;   /* the driver's number of the GPU */
    int number;    /* libomptarget's number of the device */
    unsigned forks;
};

struct rex_event {
    struct rex_pooled pooled;
    pthread_mutex_t lock; /* of all below: another thread may record the event at any time */
    enum rex_event_state state;
    struct timespec at;                    /* TIMED: on a device that does all at once */
    const struct rex_driver_event *driver; /* DRIVER: the last recorded one of: */
    struct rex_driver_event *drivers;      /* the driver's events, one for each context */
    uint64_t graph;                        /* GRAPH: number of the graph */
    uint32_t point;                        /* GRAPH: number of the event in it */
};

/* Record EVENT in STREAM of the GPU, whose context is current. Returns 0 or an error. */
int rex_event_submit(struct rex_event *event, const struct rex_stream_gpu *gpu, void *stream);

/*
 * Make STREAM wait for EVENT, or, if IMMEDIATE, the calling thread. Returns 0 or an error.
 */
int rex_event_wait(struct rex_event *event, bool immediate, void *stream);

#endif
