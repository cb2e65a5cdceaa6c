/*
 * queues.h - a queue, from the inside.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUES_H
#define REX_INTERNAL_QUEUES_H

#include <pthread.h>

#include "base/fork.h"
#include "omp/pending.h"
#include "queue/command.h"

/* The kernels of unfinished work, for messages: the first of them, each once. */
#define REX_NOTED 8
struct rex_noted {
    struct {
        const char *name;
        const struct rex_registration *registration;
    } kernel[REX_NOTED];
    uint32_t count; /* REX_NOTED + 1: there were more */
};

static inline void rex_note(struct rex_noted *noted, const char *name,
                            const struct rex_registration *registration)
{
    for (uint32_t i = 0; i < noted->count && i < REX_NOTED; i++)
        if (noted->kernel[i].name == name)
            return;
    if (noted->count < REX_NOTED) {
        noted->kernel[noted->count].name = name;
        noted->kernel[noted->count].registration = registration;
    }
    noted->count += noted->count <= REX_NOTED;
}

/* All of MORE as well. */
static inline void rex_note_all(struct rex_noted *noted, const struct rex_noted *more)
{
    for (uint32_t i = 0; i < more->count && i < REX_NOTED; i++)
        rex_note(noted, more->kernel[i].name, more->kernel[i].registration);
    if (more->count > REX_NOTED)
        noted->count = REX_NOTED + 1;
}

/* A list of them for a message; "no kernel" where there is none. */
#define REX_NOTED_TEXT 1024
void rex_noted_list(const struct rex_noted *noted, char list[REX_NOTED_TEXT]);

struct rex_queue {
    pthread_mutex_t lock; /* of all below */
    struct rex_pending pending;
    struct rex_stream_gpu gpu;
    void *stream;
    bool waits;      /* the device is no NVIDIA GPU: everything is done at once */
    bool busy;       /* something was put in the stream since it was last seen empty */
    uint64_t serial; /* of the last thing put there */
    unsigned forks;  /* of the process when the queue was made */
    struct rex_noted noted;
    /*
     * How work is done: in the stream, at once, a graph in the stream. Other functions where it is
     * traced.
     */
    int (*issue)(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work,
                 struct rex_queue_kernel **kernel);
    int (*perform)(struct rex_queue *queue, const struct rex_work *work);
    int (*run)(struct rex_queue *queue, const struct rex_graph *graph);
    struct rex_queue_trace *trace; /* freed with the queue; NULL: it is not */
    struct rex_graph *recording;   /* NULL: what is put in is done */
    uint32_t lane;                 /* in that */
    char name[64];
    char lost[256]; /* the driver's words, once the device is lost */
};

/*
 * Lock QUEUE, if it is there and of this process; CALL is for the message. 0, REX_EINVAL or
 * REX_EFORK.
 */
int rex_queue_enter(struct rex_queue *queue, const char *call);

/*
 * Wait for the locked QUEUE, which others may put more in meanwhile. 0, or the error that the work
 * came to.
 */
int rex_queue_await(struct rex_queue *queue);

/* 1 if nothing is left to do in the locked QUEUE, 0 if there is, or an error. */
int rex_queue_look(struct rex_queue *queue);

/* Fill in what mappings and modules see of QUEUE. */
void rex_queue_watch(struct rex_queue *queue);

/*
 * The locked QUEUE's device has met with the error in rex_cuda_why(), which stays: records that and
 * returns REX_ECUDA.
 */
int rex_queue_lose(struct rex_queue *queue);

/* The same without an error: WHY is kept. */
void rex_queue_keep_loss(struct rex_queue *queue, const char *why);

/* REX_ECUDA where the locked QUEUE's device is lost, else 0. */
int rex_queue_refuse_lost(const struct rex_queue *queue);

/*
 * What came of a call of the driver for the locked QUEUE: RESULT; but where that is REX_ECUDA and
 * the call failed for something that went before, the device is lost, and the message says what
 * ran, unless that was in other queues alone. The context is current.
 */
int rex_queue_blame(struct rex_queue *queue, int result);

/* Do, put in the stream or record WORK, by what state the locked QUEUE is in. 0 or an error. */
int rex_queue_put(struct rex_queue *queue, struct rex_work *work);

/* GRAPH was put in the stream of the locked QUEUE. */
void rex_queue_note_graph(struct rex_queue *queue, const struct rex_graph *graph);

/*
 * After work was put in the locked QUEUE: wait for it where the queue was made so. 0 or an error.
 */
int rex_queue_settle(struct rex_queue *queue);

/* How work is done where nothing is traced. */
int rex_queue_perform(struct rex_queue *queue, const struct rex_work *work);
/* 0, or the driver's result */
int rex_graph_run(struct rex_queue *queue, const struct rex_graph *graph);

/* ---- the trace of a queue -------------------------------------------------------------------- */

/* Begin to trace QUEUE, which is new. */
void rex_queue_trace(struct rex_queue *queue);
/* All that was put in the locked QUEUE is done: write it down. */
void rex_queue_trace_idle(struct rex_queue *queue);
/* The stream of QUEUE ends; its context is current. */
void rex_queue_trace_end(struct rex_queue *queue);

/* ---- graphs, for queue.c --------------------------------------------------------------------- */

/* Add WORK, which is copied, to what the graph records, after checking it. 0 or an error. */
int rex_graph_add(struct rex_graph *graph, const struct rex_work *work, uint32_t lane);

#endif
