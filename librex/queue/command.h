/*
 * command.h - what is put in a queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COMMAND_H
#define REX_INTERNAL_COMMAND_H

#include "launch/pack.h"
#include "rex/queue.h"

enum rex_work_kind {
    REX_WORK_LAUNCH,
    REX_WORK_COPY_TO,
    REX_WORK_COPY_FROM,
    REX_WORK_FILL,
    REX_WORK_CALL,
    REX_WORK_RECORD,
    REX_WORK_WAIT
};

/* One thing to do. What it points to is the caller's, or, in a graph, the graph's. */
struct rex_work {
    enum rex_work_kind kind;
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
            struct rex_event *event;
            uint32_t point; /* in a graph: number of the recording */
        } event;
    };
};

/*
 * Put WORK in a stream of the driver. The context is current. 0 or an error; KERNEL (NULL: not
 * wanted) receives what was launched.
 */
int rex_work_issue(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work,
                   struct rex_queue_kernel **kernel);

/* Do WORK now, on device NUMBER, by libomptarget. 0 or an error. */
int rex_work_do(int number, const struct rex_work *work);

/* Whether libomptarget could do WORK on device NUMBER: 0 or an error. */
int rex_work_check(const struct rex_work *work, int number);

#endif
