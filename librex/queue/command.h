/*
 * command.h - one thing that is put in a queue or recorded in a graph.
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
            struct rex_kernel_launch description;
            struct rex_map map;
        } launch;
        struct {
            void *host;
            void *device; /* NULL: the device's copy of the host's memory */
            size_t size;
        } copy;
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

#endif
