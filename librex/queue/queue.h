/*
 * queue.h - the struct of a queue, and the functions for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUE_H
#define REX_INTERNAL_QUEUE_H

#include "base/pool.h"
#include "base/process.h"
#include "present/unfinished.h"
#include "queue/command.h"

struct rex_queue {
    struct rex_pooled pooled;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t put;   /* the command that waits has been put in */
    struct rex_unfinished unfinished;
    struct rex_stream_gpu gpu;
    void *stream;
    bool immediate; /* the device is no NVIDIA GPU: commands are done at once */
    bool is_theirs; /* the program owns the stream and destroys it */
    bool is_shared; /* the program may put work in the stream, which librex does not see */
    /* the stream may have pending work, put there since it was last idle */
    bool busy;
    bool is_waiting;  /* a command that is being put in waits for the stream, without the lock */
    uint64_t reached; /* a bit for each other device, modulo 64, that pending copies use */
    uint64_t serial;  /* of the last command put in the stream */
    struct rex_kernel_list kernels; /* launched since the stream was last idle */
    struct rex_stream_trace *trace; /* freed with the queue; NULL: no trace */
    struct rex_graph *capture;      /* NULL: commands are not captured */
    uint32_t lane;                  /* number in that graph */
    char name[64];
    char lost[256]; /* the driver's message, if the device is lost */
};

/* ---- commands: enqueue.c --------------------------------------------------------------------- */

/*
 * Lock QUEUE, if it is not NULL, has not ended and is of this process; CALL begins the message.
 * Returns 0, REX_EINVAL or REX_EFORK.
 */
int rex_queue_enter(struct rex_queue *queue, const char *call);

/* The same for a command, which waits until no other command that is being put in waits. */
int rex_queue_enter_with(struct rex_queue *queue, const char *call);

/* REX_EINVAL, because QUEUE is being captured. CALL begins the message. */
int rex_queue_refuse_captured(const struct rex_queue *queue, const char *call);

/*
 * Capture COMMAND, do it at once or put it in the stream, as the locked QUEUE requires. Returns 0
 * or an error.
 */
int rex_enqueue(struct rex_queue *queue, const struct rex_command *command);

/* ---- capture: graph.c ------------------------------------------------------------------------ */

/* Check COMMAND and add a copy of it to the graph of the locked QUEUE. Returns 0 or an error. */
int rex_capture_add(struct rex_queue *queue, const struct rex_command *command);

/*
 * The locked QUEUE waits for EVENT. True if EVENT was recorded in a graph whose capture goes on.
 * Then the wait goes into that graph, QUEUE takes part, and *RESULT is 0 or an error. Otherwise
 * false, with an error in *RESULT if QUEUE is being captured.
 */
bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result);

/* ---- the work in the stream: queuework.c ----------------------------------------------------- */

/*
 * Returns REX_ECUDA, the result of a call of the driver for the locked QUEUE. If earlier work
 * failed, the device is marked as lost. The message then has this queue's pending kernels, if it
 * has any. The context is current.
 */
int rex_queue_check_lost(struct rex_queue *queue);

/*
 * Wait until all present work of the locked QUEUE is done; other threads may add more meanwhile.
 * Returns 0 or the error of the wait.
 */
int rex_queue_sync_locked(struct rex_queue *queue);

/* Fill in the functions that mappings, modules and commands that wait call for QUEUE. */
void rex_queue_set_functions(struct rex_queue *queue);

#endif
