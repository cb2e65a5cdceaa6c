/*
 * pool.h - memory for objects whose addresses the program has, such as queues. If the program ends
 * an object, librex keeps the memory for later objects. So a call with the address of an ended
 * object returns an error instead of crashing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_POOL_H
#define REX_INTERNAL_POOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The first member of each object in a pool. */
struct rex_pooled {
    struct rex_pooled *next; /* if this object has ended: the next free object */
    unsigned forks;          /* rex_forks() when the object was made; REX_ENDED after its end */
};
#define REX_ENDED UINT_MAX

/*
 * Free objects of one type. The object that ended first is taken first. All members but `size` and
 * `what` are zero at first.
 */
struct rex_pool {
    size_t size;
    const char *what; /* "a queue", for messages */
    struct rex_pooled *first, *last;
    /* the newest batch; each batch begins with the address of the next older batch */
    void *batches;
};

/* Returns a new object, or NULL with REX_ENOMEM set. All its members but the first are zero. */
void *rex_pool_take(struct rex_pool *pool);

/* Ends OBJECT and returns its memory to POOL. */
void rex_pool_give(struct rex_pool *pool, struct rex_pooled *object);

static inline bool rex_has_ended(const void *object)
{
    return ((const struct rex_pooled *)object)->forks == REX_ENDED;
}

/*
 * Returns REX_EINVAL if OBJECT is NULL or has ended, otherwise 0. The message begins with CALL, and
 * WHAT names the type of the object.
 */
int rex_pooled_check(const void *object, const char *call, const char *what);

#endif
