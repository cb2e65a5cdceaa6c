/*
 * queue.h - the struct of a queue, and the functions that files of this directory share.
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
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t put;   /* signalled when `is_waiting` becomes false */
    struct rex_unfinished unfinished;
    struct rex_stream_gpu gpu;
    void *stream;
    bool immediate; /* commands are executed at once, because the device is no NVIDIA GPU */
    bool is_theirs; /* the program owns the stream, so librex does not destroy it */
    bool is_shared; /* the program may put commands in the stream without librex */
    bool busy;      /* the stream may have unfinished commands */
    /* a thread has released `lock`, and waits until the stream has executed a command */
    bool is_waiting;
    /* bit N: pending copies use another device; N is the number of that device modulo 64 */
    uint64_t reached;
    uint64_t serial;                /* number of the last command put in the stream */
    struct rex_kernel_list kernels; /* kernels launched since the stream was last idle */
    struct rex_stream_trace *trace; /* owned by the queue; NULL: no trace */
    struct rex_graph *capture;      /* NULL: commands are not captured */
    uint32_t lane;                  /* number of the queue in `capture` */
    char name[64];
    char lost[256]; /* the driver's message, if the device is lost */
};

/* ---- commands: enqueue.c --------------------------------------------------------------------- */

/*
 * Locks QUEUE and returns 0. Returns REX_EINVAL if QUEUE is NULL or was destroyed. Returns
 * REX_EFORK if a parent of this process made the queue's stream. The message begins with CALL.
 */
int rex_queue_enter(struct rex_queue *queue, const char *call);

/*
 * Calls rex_queue_enter(), and waits until `is_waiting` is false. Call this before rex_enqueue().
 */
int rex_queue_enter_with(struct rex_queue *queue, const char *call);

/* Sets and returns REX_EINVAL, because QUEUE is being captured. The message begins with CALL. */
int rex_queue_refuse_captured(const struct rex_queue *queue, const char *call);

/*
 * If the locked QUEUE is being captured, captures COMMAND. Otherwise, if QUEUE is `immediate`,
 * executes COMMAND at once. In all other cases, puts COMMAND in the queue's stream. Returns 0 or an
 * error.
 */
int rex_enqueue(struct rex_queue *queue, const struct rex_command *command);

/*
 * Unlocks QUEUE and returns RESULT. If QUEUE is blocking and RESULT is 0, first waits for the
 * commands of the call, and returns the result of the wait.
 */
int rex_queue_leave(struct rex_queue *queue, int result);

/* ---- capture: graph.c ------------------------------------------------------------------------ */

/*
 * Checks COMMAND, and adds a copy of COMMAND to the graph of the locked QUEUE. Returns 0 or an
 * error.
 */
int rex_capture_add(struct rex_queue *queue, const struct rex_command *command);

/*
 * Captures a wait of the locked QUEUE for EVENT. Set *RESULT to 0 before the call.
 *
 * If EVENT was recorded in a graph that is still being captured, adds the wait to the graph, makes
 * QUEUE part of the capture, and returns true. If this fails, also returns true, and *RESULT is the
 * error.
 *
 * If EVENT was not recorded in such a graph, returns false. In that case *RESULT is an error if
 * QUEUE is being captured.
 */
bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result);

/* ---- the work in the stream: queuework.c ----------------------------------------------------- */

/*
 * Call this after a driver call for the locked QUEUE has failed. The GPU's context must be current.
 * If the cause is an earlier command on the GPU, marks QUEUE and the device as lost. In that case
 * the message lists the pending kernels of QUEUE and the pending deferred launches, if there are
 * any. Returns REX_ECUDA.
 */
int rex_queue_check_lost(struct rex_queue *queue);

/*
 * Waits for the commands that are in the stream of the locked QUEUE when the function is called.
 * Unlocks QUEUE during the wait, so other threads may add commands. Returns 0 or REX_ECUDA.
 */
int rex_queue_sync_locked(struct rex_queue *queue);

/* Sets `unfinished` and `gpu.waits` of QUEUE to functions of queuework.c. */
void rex_queue_set_functions(struct rex_queue *queue);

#endif
