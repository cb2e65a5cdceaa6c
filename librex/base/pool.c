/*
 * pool.c - memory of objects that the program has by address.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"

/* Ended objects of a type that wait before the first of them is used again. */
#define WAITING 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all pools */
REX_FORK_TAKEN(70, NULL);

/* The object that ended first; NULL if too few wait. */
static struct rex_pooled *take_oldest(struct rex_pool *pool)
{
    pthread_mutex_lock(&lock);
    struct rex_pooled *object = pool->count > WAITING ? pool->first : NULL;
    if (object != NULL) {
        pool->first = object->next;
        pool->count--;
    }
    pthread_mutex_unlock(&lock);
    return object;
}

void *rex_pool_take(struct rex_pool *pool)
{
    struct rex_pooled *object = take_oldest(pool);
    if (object != NULL)
        memset(object, 0, pool->size);
    else
        object = calloc(1, pool->size);
    if (object != NULL)
        object->forks = rex_forks();
    return object;
}

void rex_pool_give(struct rex_pool *pool, struct rex_pooled *object)
{
    object->forks = REX_ENDED;
    object->next = NULL;
    pthread_mutex_lock(&lock);
    if (pool->count++ == 0)
        pool->first = object;
    else
        pool->last->next = object;
    pool->last = object;
    pthread_mutex_unlock(&lock);
}

int rex_pooled_check(const void *object, const char *call, const char *what)
{
    if (object == NULL)
        return rex_fail_null(call, what);
    return rex_has_ended(object)
               ? rex_fail(REX_EINVAL, "%s: the %s at %p has ended", call, what, object)
               : REX_OK;
}
