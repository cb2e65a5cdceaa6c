/*
 * command.h - commands and events. A command is put in a queue or captured in a graph.
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

/*
 * A command. Its pointers point to memory of the program. But a captured launch has its own copy of
 * the map.
 */
struct rex_command {
    enum rex_command_kind kind;
    uint32_t lane; /* if captured: number of the queue in the graph */
    union {
        struct {
            struct rex_module *module;
            struct rex_launch_config description;
            struct rex_map map;
            void *memory; /* if captured: malloc()ed columns and values of `map` */
        } launch;
        struct {
            void *host;
            void *device; /* NULL: the device memory to which `host` is mapped */
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
            struct rex_event *event; /* if captured: NULL */
            uint32_t point;          /* if captured: number of the event in the graph */
        } event;
        /* the caller has locked the graph; no graph captures a graph launch */
        struct rex_graph *graph;
    };
};

/*
 * COMMAND copies from one device to another, or inside one device. NUMBER is one of its devices.
 * Returns the number of the other device, or NUMBER if the copy stays inside device NUMBER.
 */
static inline int rex_command_other(const struct rex_command *command, int number)
{
    return command->peer.to_device == number ? command->peer.from_device : command->peer.to_device;
}

/*
 * Puts COMMAND in STREAM. Call this only while the context of GPU is current. If COMMAND is a
 * launch, writes its kernel to *KERNEL; other commands do not change *KERNEL. Returns 0 or an
 * error.
 */
int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel);

/*
 * NUMBER is the device of an immediate queue, which executes commands at once. Returns true if the
 * device is the host, or if offloading is disabled. If the result is true, an update call copies
 * nothing.
 */
bool rex_is_nowhere(int number);

/* Executes COMMAND at once. GPU is of an immediate queue. Returns 0 or an error. */
int rex_command_do(const struct rex_stream_gpu *gpu, const struct rex_command *command);

/* Checks that GRAPH can capture COMMAND. Returns 0 or an error. */
int rex_command_check(struct rex_graph *graph, const struct rex_command *command);

/* COMMAND must be a launch. Replaces its map by a malloc()ed copy. Returns 0 or REX_ENOMEM. */
int rex_command_own_map(struct rex_command *command);

/* ---- events ---------------------------------------------------------------------------------- */

enum rex_event_state { REX_EVENT_NEW, REX_EVENT_TIMED, REX_EVENT_DRIVER, REX_EVENT_GRAPH };

/*
 * A driver's event for one context. librex keeps the driver's event until the rex_event is
 * destroyed, because threads may wait for the driver's event.
 */
struct rex_driver_event {
    struct rex_driver_event *next;
    void *handle;   /* the driver's event */
    void *context;  /* the context of `handle` */
    int ordinal;    /* the driver's number of the GPU */
    int number;     /* libomptarget's number of the device */
    unsigned forks; /* value of rex_forks() in the process that made `handle` */
};

struct rex_event {
    struct rex_pooled pooled;
    pthread_mutex_t lock; /* guards the fields below: another thread may record the event */
    enum rex_event_state state;
    /* in state TIMED: time of the record, for a device that executes each command immediately */
    struct timespec at;
    int number; /* in state TIMED: number of the device of the queue */
    /* in state DRIVER: the element of `drivers` that was recorded last */
    const struct rex_driver_event *driver;
    struct rex_driver_event *drivers; /* the driver's events, one for each context */
    uint64_t graph;                   /* in state GRAPH: number of the graph */
    uint32_t point;                   /* in state GRAPH: number of the event */
};

/*
 * Records EVENT in STREAM of GPU. Call this only while GPU's context is current. Returns 0 or an
 * error.
 */
int rex_event_submit(struct rex_event *event, const struct rex_stream_gpu *gpu, void *stream);

/*
 * Makes STREAM wait for EVENT. If IMMEDIATE is true, the calling thread waits instead. Returns 0 or
 * an error.
 */
int rex_event_wait(struct rex_event *event, bool immediate, void *stream);

#endif
