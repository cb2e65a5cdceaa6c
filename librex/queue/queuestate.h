/*
 * queuestate.h - a queue from the inside: what it is, and in what state.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUESTATE_H
#define REX_INTERNAL_QUEUESTATE_H

#include <pthread.h>

#include "base/fork.h"
#include "omp/unfinished.h"
#include "queue/command.h"

/* ---- a queue --------------------------------------------------------------------------------- */

struct rex_queue {
    pthread_mutex_t lock; /* of all below */
    struct rex_unfinished unfinished;
    struct rex_stream_gpu gpu;
    void *stream;
    bool immediate; /* the device is no NVIDIA GPU: everything is done at once */
    bool is_theirs; /* the stream is somebody else's, who ends it */
    bool is_shared; /* others may put work in the stream, which librex does not see */
    /* something was put in the stream since it was last seen empty, or may have been by others */
    bool busy;
    uint64_t
        reached; /* a bit for each device, modulo 64, that unfinished copies reach beside the own */
    uint64_t serial;                /* of the last thing put there */
    unsigned forks;                 /* of the process when the queue was made */
    struct rex_kernel_list kernels; /* of what was put there since it was last seen empty */
    struct rex_queue_trace *trace;  /* freed with the queue; NULL: it is not traced */
    struct rex_graph *capture;      /* NULL: what is put in is done, not captured */
    uint32_t lane;                  /* in that graph */
    char name[64];
    char lost[256]; /* the driver's words, once the device is lost */
};

/*
 * Lock QUEUE, if it is there and of this process; CALL is for the message. 0, REX_EINVAL or
 * REX_EFORK.
 */
int rex_queue_enter(struct rex_queue *queue, const char *call);

/* Something was put in the stream of the locked QUEUE. */
static inline void rex_queue_set_busy(struct rex_queue *queue)
{
    queue->busy = true;
    queue->serial++;
}

/* ---- lost ------------------------------------------------------------------------------------ */

/*
 * The locked QUEUE's device has met with the error in rex_cuda_why(), which stays: marks it as lost
 * and returns REX_ECUDA, with the kernels that are unfinished.
 */
int rex_queue_lose(struct rex_queue *queue);

/* Mark the locked QUEUE, and its device, as lost for the reason WHY. */
void rex_queue_mark_lost(struct rex_queue *queue, const char *why);

/* REX_ECUDA where the locked QUEUE's device is lost, else 0. */
int rex_queue_refuse_lost(const struct rex_queue *queue);

/*
 * What came of a call of the driver for the locked QUEUE: RESULT; but where that is REX_ECUDA and
 * the call failed for something that went before, the device is lost, and the message says what
 * ran, unless that was in other queues alone. The context is current.
 */
int rex_queue_check_lost(struct rex_queue *queue, int result);

/* ---- busy and idle --------------------------------------------------------------------------- */

/*
 * Wait until all that is in the locked QUEUE now is done; others may put more in meanwhile. 0, or
 * the error that it came to.
 */
int rex_queue_sync_locked(struct rex_queue *queue);

/*
 * After something was put in the locked QUEUE: the same where it was made with REX_QUEUE_BLOCKING.
 */
int rex_queue_sync_if_stepwise(struct rex_queue *queue);

/* 1 if nothing is left to do in the locked QUEUE, 0 if there is, or an error. */
int rex_queue_done_locked(struct rex_queue *queue);

/* Fill in what mappings and modules see of QUEUE. */
void rex_queue_set_unfinished(struct rex_queue *queue);

#endif
