/*
 * command.h - a command that is put in a queue or captured into a graph.
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

/* Its pointers belong to the caller, or, in a graph, to the graph. */
struct rex_command {
    enum rex_command_kind kind;
    uint32_t lane; /* in a graph: the number of its queue */
    union {
        struct {
            struct rex_module *module;
            struct rex_launch_config description;
            struct rex_map map;
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
            uint32_t point;          /* in a graph: the number of the event recorded there */
        } event;
    };
};

/*
 * Put COMMAND in STREAM. The context is current. Returns 0 or an error. A launch writes its kernel
 * to *KERNEL; other commands do not change it.
 */
int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel);

/* Put the driver's EXECUTABLE graph in STREAM. Returns 0, or another number with rex_cuda_why(). */
int rex_graph_submit(void *executable, void *stream);

/* Do COMMAND now on device NUMBER. Returns 0 or an error. */
int rex_command_do(int number, const struct rex_command *command);

/* Check whether COMMAND could be done on device NUMBER: 0 or an error. */
int rex_command_check(const struct rex_command *command, int number);

#endif
