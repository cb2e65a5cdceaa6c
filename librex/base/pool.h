/*
 * pool.h - memory for objects whose addresses the program holds. It is never freed, so that a call
 * with the address of an object that has ended returns an error instead of crashing.
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
    struct rex_pooled *next; /* the next free object, after the end of this one */
    unsigned forks;          /* rex_forks() when the object was made; REX_ENDED after its end */
};
#define REX_ENDED UINT_MAX

/* Free objects of one type, in the order of their ends. All but SIZE and WHAT is zero at first. */
struct rex_pool {
    size_t size;
    const char *what; /* "a queue", for messages */
    struct rex_pooled *first, *last;
    void *batches; /* the newest batch; each begins with a pointer to the one made before it */
};

/* Returns a new object, zero but for its rex_pooled, or NULL with REX_ENOMEM set. */
void *rex_pool_take(struct rex_pool *pool);

/* Ends OBJECT and returns its memory to POOL. */
void rex_pool_give(struct rex_pool *pool, struct rex_pooled *object);

static inline bool rex_has_ended(const void *object)
{
    return ((const struct rex_pooled *)object)->forks == REX_ENDED;
}

/*
 * Returns 0, or REX_EINVAL if OBJECT is NULL or has ended. The message begins with CALL, and WHAT
 * names the type of the object.
 */
int rex_pooled_check(const void *object, const char *call, const char *what);

#endif
