/*
 * queuestate.h - a queue from the inside: what it is, and whether it can be used.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUESTATE_H
#define REX_INTERNAL_QUEUESTATE_H

#include <pthread.h>

#include "base/fork.h"
#include "omp/pending.h"
#include "queue/command.h"

/* ---- kernels, for messages ------------------------------------------------------------------- */

/* The first kernels of a graph or of unfinished work, each once. */
#define REX_KERNEL_LIST_MAX 8
struct rex_kernel_list {
    struct {
        const char *name;
        const struct rex_registration *registration;
    } kernel[REX_KERNEL_LIST_MAX];
    uint32_t count; /* REX_KERNEL_LIST_MAX + 1: there were more */
};

static inline void rex_kernel_list_add(struct rex_kernel_list *list, const char *name,
                                       const struct rex_registration *registration)
{
    for (uint32_t i = 0; i < list->count && i < REX_KERNEL_LIST_MAX; i++)
        if (list->kernel[i].name == name)
            return;
    if (list->count < REX_KERNEL_LIST_MAX) {
        list->kernel[list->count].name = name;
        list->kernel[list->count].registration = registration;
    }
    list->count += list->count <= REX_KERNEL_LIST_MAX;
}

/* All of MORE as well. */
void rex_kernel_list_add_all(struct rex_kernel_list *list, const struct rex_kernel_list *more);

/* The names in words; "no kernel" where there is none. */
#define REX_KERNEL_LIST_TEXT 1024
void rex_kernel_list_text(const struct rex_kernel_list *list, char text[REX_KERNEL_LIST_TEXT]);

/* ---- a queue --------------------------------------------------------------------------------- */

struct rex_queue {
    pthread_mutex_t lock; /* of all below */
    struct rex_pending pending;
    struct rex_stream_gpu gpu;
    void *stream;
    bool immediate;  /* the device is no NVIDIA GPU: everything is done at once */
    bool busy;       /* something was put in the stream since it was last seen empty */
    uint64_t serial; /* of the last thing put there */
    unsigned forks;  /* of the process when the queue was made */
    struct rex_kernel_list kernels; /* of what was put there since it was last seen empty */
    struct rex_queue_trace *trace;  /* freed with the queue; NULL: it is not traced */
    struct rex_graph *capture;      /* NULL: what is put in is done, not recorded */
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
static inline void rex_queue_note_busy(struct rex_queue *queue)
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

#endif
