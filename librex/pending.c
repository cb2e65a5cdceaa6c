/*
 * pending.c - work that is not finished, as mappings and modules see it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "pending.h"

#include <pthread.h>
#include <strings.h>

#include "config.h"
#include "error.h"
#include "log.h"
#include "mapping.h"
#include "registration.h"

int rex_pending_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_pending *all;
static int any_lost;

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

static bool waits(void)
{
    char value[REX_CONFIG_MAX];
    return rex_config(REX_OPTION_UNFINISHED, value) && strcasecmp(value, "wait") == 0;
}

static int lost(const struct rex_pending *pending, const char *what)
{
    return rex_fail(REX_ECUDA, "%s: device %d is lost, since queue \"%s\" met with %s", what, pending->number, pending->name,
                    pending->lost);
}

static const char *why_lost(const struct rex_pending *pending)
{
    return __atomic_load_n(&pending->lost, __ATOMIC_ACQUIRE);
}

/* BUSY is in the way of WHAT. libomptarget aborts where the device is lost. */
static int settle(struct rex_pending *busy, const char *what, const char *object)
{
    if (why_lost(busy) != NULL)
        return lost(busy, what);
    if (waits()) {
        rex_log(REX_LOG_INFO, "%s waits for queue \"%s\"", what, busy->name);
        return busy->wait(busy);
    }
    return rex_fail(REX_EBUSY, "%s: queue \"%s\" has unfinished work that may use %s: call rex_queue_sync() before, or set %s=wait", what,
                    busy->name, object, rex_config_variable(REX_OPTION_UNFINISHED));
}

static bool uses_a_row(struct rex_pending *pending, const struct rex_map *map)
{
    for (int32_t i = 0; i < map->count; i++)
        if (!(map->types[i] & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE)) &&
            pending->uses(pending, map->begin[i], map->sizes[i] > 0 ? (size_t)map->sizes[i] : 1))
            return true;
    return false;
}

int rex_pending_unmap(const struct rex_map *map, int number, const char *what)
{
    int result = REX_OK;
    if (__atomic_load_n(&rex_pending_count, __ATOMIC_RELAXED) == 0)
        return REX_OK;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL && result == REX_OK; each = each->next)
        if (each->number == number && (uses_a_row(each, map) || why_lost(each) != NULL))
            result = settle(each, what, "this memory");
    rex_unlock(&lock);
    return result;
}

int rex_pending_unload(const struct rex_registration *registration, bool last)
{
    int result = REX_OK;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL && result == REX_OK; each = each->next)
        if (each->runs(each, registration) || (last && each->uses(each, NULL, 0)) || why_lost(each) != NULL)
            result = settle(each, "the end of a module", "it");
    rex_unlock(&lock);
    return result;
}

void rex_pending_lose(struct rex_pending *pending, const char *why)
{
    __atomic_store_n(&pending->lost, why, __ATOMIC_RELEASE);
    __atomic_store_n(&any_lost, 1, __ATOMIC_RELAXED);
}

int rex_pending_lost(int number, const char *what)
{
    int result = REX_OK;
    if (__atomic_load_n(&any_lost, __ATOMIC_RELAXED) == 0)
        return REX_OK;
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL && result == REX_OK; each = each->next)
        if (each->number == number && why_lost(each) != NULL)
            result = lost(each, what);
    rex_unlock(&lock);
    return result;
}

void rex_pending_wait(const struct rex_map *map, int number, const char *call)
{
    rex_lock(&lock);
    for (struct rex_pending *each = all; each != NULL; each = each->next)
        if (each->number == number && (map != NULL ? uses_a_row(each, map) : each->uses(each, NULL, 0))) {
            rex_log(REX_LOG_WARN, "%s waits for queue \"%s\": call rex_queue_sync() before", call, each->name);
            each->wait(each);
        }
    rex_unlock(&lock);
}
