/*
 * pool.c - memory for objects whose addresses the program has.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/process.h"

/*
 * Number of objects in one allocation. The number is large, so that the address of an ended object
 * is not soon used again.
 */
#define BATCH 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all pools */
REX_FORK_TAKEN(70, NULL);

static void add_to_pool(struct rex_pool *pool, struct rex_pooled *object)
{
    REX_ASSERT(pool->first == NULL || (pool->last->next == NULL && pool->last != object));
    object->forks = REX_ENDED;
    object->next = NULL;
    if (pool->first == NULL)
        pool->first = object;
    else
        pool->last->next = object;
    pool->last = object;
}

void *rex_pool_take(struct rex_pool *pool)
{
    pthread_mutex_lock(&lock);
    char *batch = pool->first == NULL ? calloc(1 + BATCH, pool->size) : NULL;
    if (batch != NULL) {
        *(void **)(void *)batch = pool->batches;
        pool->batches = batch;
        for (size_t i = 1; i <= BATCH; i++)
            add_to_pool(pool, (struct rex_pooled *)(void *)(batch + i * pool->size));
    }
    struct rex_pooled *object = pool->first;
    if (object != NULL)
        pool->first = object->next;
    pthread_mutex_unlock(&lock);
    if (object == NULL) {
        rex_fail_memory((1 + BATCH) * pool->size, pool->what);
        return NULL;
    }
    REX_ASSERT(rex_has_ended(object));
    memset(object, 0, pool->size);
    object->forks = rex_forks();
    return object;
}

void rex_pool_give(struct rex_pool *pool, struct rex_pooled *object)
{
    pthread_mutex_lock(&lock);
    add_to_pool(pool, object);
    pthread_mutex_unlock(&lock);
}

int rex_pooled_check(const void *object, const char *call, const char *what)
{
    if (object == NULL)
        return rex_fail_null(call, what);
    if (rex_has_ended(object))
        return rex_fail(REX_EINVAL,
                        "%s: the %s at %p cannot be used: it was destroyed or unloaded before",
                        call, what, object);
    return REX_OK;
}
