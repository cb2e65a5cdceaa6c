/*
 * command.h - one thing that is put in a queue or captured into a graph, and how it is done.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COMMAND_H
#define REX_INTERNAL_COMMAND_H

#include "launch/pack.h"
#include "rex/queue.h"

enum rex_command_kind {
    REX_COMMAND_LAUNCH,
    REX_COMMAND_COPY_TO,
    REX_COMMAND_COPY_FROM,
    REX_COMMAND_COPY_PEER,
    REX_COMMAND_FILL,
    REX_COMMAND_CALL,
    REX_COMMAND_RECORD,
    REX_COMMAND_WAIT
};

/* What it points to is the caller's, or, in a graph, the graph's. */
struct rex_command {
    enum rex_command_kind kind;
    uint32_t lane; /* in a graph: which of its queues does it */
    union {
        struct {
            struct rex_module *module;
            struct rex_launch_config description;
            struct rex_map map;
        } launch;
        struct {
            void *host;
            void *device; /* NULL: the device's copy of the host's memory */
            size_t size;
        } copy;
        struct {
            void *to;
            const void *from;
            size_t size;
            int to_device, from_device;
        } peer;
        struct {
            void *to;
            uint32_t value; /* the pattern, in its low bytes */
            size_t width, size;
        } fill;
        struct {
            void (*function)(void *argument);
            void *argument;
        } call;
        struct {
            struct rex_event *event; /* NULL in a graph */
            uint32_t point;          /* in a graph: which of the events recorded there */
        } event;
    };
};

/*
 * Put COMMAND in STREAM. The context is current. 0 or an error; *KERNEL receives what was launched,
 * and is left alone by other commands.
 */
int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel);

/* Put the driver's EXECUTABLE graph in STREAM. 0, or -1 with rex_cuda_why(). */
int rex_graph_submit(void *executable, void *stream);

/* Do COMMAND now, on device NUMBER. 0 or an error. */
int rex_command_do(int number, const struct rex_command *command);

/* Whether COMMAND could be done on device NUMBER: 0 or an error. */
int rex_command_check(const struct rex_command *command, int number);

#endif
