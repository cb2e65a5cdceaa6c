/*
 * pool.h - objects that the program has by address. Their memory stays after their end, so that a
 * later call with the address is an error and nothing worse.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_POOL_H
#define REX_INTERNAL_POOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The first member of an object. */
struct rex_pooled {
    struct rex_pooled *next; /* in the pool, after the end */
    unsigned forks;          /* of the process when the object was made; REX_ENDED after its end */
};
#define REX_ENDED UINT_MAX

/* Objects of one type that are free, those that ended first in front. The rest is zero at first. */
struct rex_pool {
    size_t size;
    const char *what; /* "a queue", for messages */
    struct rex_pooled *first, *last;
    void *batches; /* of all objects, each with a pointer to the one before it; never freed */
};

/* A new object, zero but for `pooled`; NULL with REX_ENOMEM. */
void *rex_pool_take(struct rex_pool *pool);

/* OBJECT ends, and its memory goes to the pool. */
void rex_pool_give(struct rex_pool *pool, struct rex_pooled *object);

static inline bool rex_has_ended(const void *object)
{
    return ((const struct rex_pooled *)object)->forks == REX_ENDED;
}

/* REX_EINVAL if OBJECT, a WHAT, is NULL or has ended; CALL begins the message. Otherwise 0. */
int rex_pooled_check(const void *object, const char *call, const char *what);

#endif
