/* keep.c - image bytes that stay for the life of the process, once per content. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "keep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fork.h"
#include "log.h"

struct kept {
    struct kept *next;
    unsigned char *bytes;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

void rex_keep_fork(enum rex_fork when)
{
    rex_fork_take(&lock, when);
}

/* There are few, and hardly ever two of one size: to compare them costs less than to hash a megabyte. */
unsigned char *rex_kept(const unsigned char *bytes, size_t size)
{
    rex_lock(&lock);
    const struct kept *kept = all_kept;
    while (kept != NULL && (kept->size != size || memcmp(kept->bytes, bytes, size) != 0))
        kept = kept->next;
    rex_unlock(&lock);
    return kept != NULL ? kept->bytes : NULL;
}

int rex_keep(unsigned char *bytes, size_t size)
{
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return rex_fail_memory(sizeof *kept, "an image");
    *kept = (struct kept){NULL, bytes, size};
    rex_lock(&lock);
    kept->next = all_kept;
    all_kept = kept;
    rex_unlock(&lock);
    return REX_OK;
}
