/*
 * pending.c - unfinished work of queues, as mappings and modules see it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/pending.h"

#include <pthread.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "omp/openmp.h"
#include "rex/queue.h"

int rex_pending_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_pending *all;

/* All are of queues on GPUs, with which a child can do nothing. */
static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    all = NULL;
    rex_pending_count = 0;
}

REX_FORK_RENEWED(14, forget_in_child);

void rex_pending_add(struct rex_pending *pending)
{
    rex_lock(&lock);
    pending->next = all;
    all = pending;
    __atomic_fetch_add(&rex_pending_count, 1, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}

void rex_pending_remove(struct rex_pending *pending)
{
    rex_lock(&lock);
    struct rex_pending **at = &all;
    while (*at != NULL && *at != pending)
        at = &(*at)->next;
    if (*at != NULL) {
        *at = pending->next;
        __atomic_fetch_sub(&rex_pending_count, 1, __ATOMIC_RELAXED);
    }
    rex_unlock(&lock);
}

/* WHAT cannot be done to OBJECT while BUSY has work: 0 after waiting for it, or an error. */
static int wait_or_refuse(struct rex_pending *busy, const char *what, const char *object)
{
    if (rex_setting_wait_for_unfinished()) {
        rex_log(REX_LOG_INFO, "%s waits for queue \"%s\"", what, busy->name);
        return busy->wait(busy);
    }
    return rex_fail(REX_EBUSY,
                    "%s: queue \"%s\" has unfinished work that may use %s: call rex_queue_sync() "
                    "before, or set %s=wait",
                    what, busy->name, object, rex_setting_variable(REX_OPTION_UNFINISHED));
}

static bool uses_a_row(struct rex_pending *pending, const struct rex_map *map)
{
    for (int32_t i = 0; i < map->count; i++)
        if (!(map->types[i] & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE)) &&
            pending->uses(pending, map->begin[i], map->sizes[i] > 0 ? (size_t)map->sizes[i] : 1))
            return true;
    return false;
}

static int free_rows(const struct rex_map *map, int number, const char *what)
{
    int result = REX_OK;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL && result == REX_OK; each = each->next)
        if (each->number == number && uses_a_row(each, map))
            result = wait_or_refuse(each, what, "this memory");
    rex_unlock(&lock);
    return result;
}

/*
 * A look at a queue may be what finds the device lost, so that this is asked last. libomptarget
 * would abort there.
 */
int rex_pending_unmap(const struct rex_map *map, int number, const char *what)
{
    int result = rex_pending_any() ? free_rows(map, number, what) : REX_OK;
    return result == REX_OK ? rex_device_lost(number, what) : result;
}

static int free_module(const struct rex_registration *registration, bool last, const char *what)
{
    int result = REX_OK;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL && result == REX_OK; each = each->next)
        if (each->runs(each, registration) || (last && each->uses(each, NULL, 0)))
            result = wait_or_refuse(each, what, "it");
    rex_unlock(&lock);
    return result;
}

int rex_pending_unload(const struct rex_registration *registration, bool last)
{
    static const char what[] = "the end of a module";
    int result = free_module(registration, last, what);
    return result == REX_OK ? rex_any_device_lost(what) : result;
}

void rex_pending_wait(const struct rex_map *map, int number, const char *call)
{
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL; each = each->next)
        if (each->number == number &&
            (map != NULL ? uses_a_row(each, map) : each->uses(each, NULL, 0))) {
            rex_log(REX_LOG_WARN, "%s waits for queue \"%s\": call rex_queue_sync() before", call,
                    each->name);
            each->wait(each);
        }
    rex_unlock(&lock);
}

void rex_pending_before_end(int64_t device, int32_t count, void **begin, int64_t *sizes,
                            int64_t *types, const char *call)
{
    struct rex_map map = {.count = count, .begin = begin, .sizes = sizes, .types = types};
    if (count > 0 && begin != NULL && sizes != NULL && types != NULL)
        rex_pending_wait(&map, device == -1 ? rex_openmp_default_device() : (int)device, call);
}

bool rex_pending_ask(int number, const char *why, struct rex_kernel_list *noted)
{
    bool lost = false;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL; each = each->next)
        if (each->number == number && each->is_lost(each, why, noted))
            lost = true;
    rex_unlock(&lock);
    return lost;
}
