/*
 * queuestate.h - the struct of a queue, and its state.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUESTATE_H
#define REX_INTERNAL_QUEUESTATE_H

#include <pthread.h>

#include "base/process.h"
#include "omp/unfinished.h"
#include "queue/command.h"

/* ---- a queue --------------------------------------------------------------------------------- */

struct rex_queue {
    pthread_mutex_t lock; /* of all below */
    struct rex_unfinished unfinished;
    struct rex_stream_gpu gpu;
    void *stream;
    bool immediate; /* the device is no NVIDIA GPU: commands are done at once */
    bool is_theirs; /* the program owns the stream and destroys it */
    bool is_shared; /* the program may put work in the stream, which librex does not see */
    /* the stream may have unfinished work, put there since it was last idle */
    bool busy;
    uint64_t reached; /* a bit for each other device, modulo 64, that unfinished copies use */
    uint64_t serial;  /* of the last command put in the stream */
    unsigned forks;   /* of the process when the queue was made */
    struct rex_kernel_list kernels; /* launched since the stream was last idle */
    struct rex_queue_trace *trace;  /* freed with the queue; NULL: no trace */
    struct rex_graph *capture;      /* NULL: commands are not captured */
    uint32_t lane;                  /* number in that graph */
    char name[64];
    char lost[256]; /* the driver's message, if the device is lost */
};

/*
 * Lock QUEUE, if it is not NULL and of this process; CALL begins the message. Returns 0, REX_EINVAL
 * or REX_EFORK.
 */
int rex_queue_enter(struct rex_queue *queue, const char *call);

/* A command was put in the stream of the locked QUEUE. */
static inline void rex_queue_set_busy(struct rex_queue *queue)
{
    queue->busy = true;
    queue->serial++;
}

/* ---- lost ------------------------------------------------------------------------------------ */

/*
 * The locked QUEUE's device has a lasting error, which is in rex_cuda_why(). Marks it as lost and
 * returns REX_ECUDA, with the unfinished kernels in the message.
 */
int rex_queue_lose(struct rex_queue *queue);

/* Mark the locked QUEUE and its device as lost for the reason WHY. */
void rex_queue_mark_lost(struct rex_queue *queue, const char *why);

/* REX_ECUDA if the locked QUEUE's device is lost, else 0. */
int rex_queue_refuse_lost(const struct rex_queue *queue);

/*
 * After a call of the driver for the locked QUEUE with RESULT; returns RESULT. If RESULT is
 * REX_ECUDA because earlier work failed, the device is marked as lost. The message then has this
 * queue's unfinished kernels, if it has any. The context is current.
 */
int rex_queue_check_lost(struct rex_queue *queue, int result);

/* ---- busy and idle --------------------------------------------------------------------------- */

/*
 * Wait until all present work of the locked QUEUE is done; other threads may add more meanwhile.
 * Returns 0 or the error of the wait.
 */
int rex_queue_sync_locked(struct rex_queue *queue);

/* After a command was put in the locked QUEUE: wait if it was made with REX_QUEUE_BLOCKING. */
int rex_queue_sync_if_stepwise(struct rex_queue *queue);

/* 1 if the locked QUEUE has no unfinished work, 0 if it has, or an error. */
int rex_queue_done_locked(struct rex_queue *queue);

/* Fill in the functions that mappings and modules call for QUEUE. */
void rex_queue_set_unfinished(struct rex_queue *queue);

#endif
