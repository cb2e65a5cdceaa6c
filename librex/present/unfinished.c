/*
 * unfinished.c - the list of queues whose commands may be unfinished when a mapping or a module
 * ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/unfinished.h"

#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/lost.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/gate.h"

/* ---- before a mapping or a module ends ------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Signalled when `holders` of a queue becomes 0. */
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
struct rex_unfinished *rex_unfinished_first;

/* Empties the list, because its queues use GPUs, which a child of fork() cannot use. */
static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    let_go = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    rex_unfinished_first = NULL;
}

REX_FORK_RENEWED(14, forget_in_child);

/* Relaxed: a thread that reads the link without the lock only compares the link with NULL. */
static void set_link(struct rex_unfinished **at, struct rex_unfinished *to)
{
    __atomic_store_n(at, to, __ATOMIC_RELAXED);
}

void rex_unfinished_add(struct rex_unfinished *unfinished)
{
    rex_lock(&lock);
    unfinished->next = rex_unfinished_first;
    set_link(&rex_unfinished_first, unfinished);
    rex_unlock(&lock);
}

/* Returns the link to UNFINISHED, or the link at the end of the list if UNFINISHED is not in it. */
static struct rex_unfinished **find_link(const struct rex_unfinished *unfinished)
{
    struct rex_unfinished **at = &rex_unfinished_first;
    while (*at != NULL && *at != unfinished)
        at = &(*at)->next;
    return at;
}

/*
 * In a child of fork(), the list is empty, and `holders` still counts threads of the parent. So the
 * function does not wait for the holders of a queue that is not in the list.
 */
void rex_unfinished_remove(struct rex_unfinished *unfinished)
{
    rex_lock(&lock);
    unfinished->is_ending = true;
    while (unfinished->holders > 0 && *find_link(unfinished) != NULL)
        pthread_cond_wait(&let_go, &lock);
    struct rex_unfinished **at = find_link(unfinished);
    if (*at != NULL)
        set_link(at, unfinished->next);
    rex_unlock(&lock);
}

/*
 * Steps through the list without keeping the list locked. Makes the thread a holder of the next
 * queue. The thread is then no longer a holder of LAST. LAST is NULL in the first call. Returns the
 * next queue, or NULL after the last queue. From the first step to the last, librex does not call
 * the program's log function, because the log function may destroy a queue. librex stores the log
 * lines for the log function.
 */
static struct rex_unfinished *hold_next(struct rex_unfinished *last)
{
    if (last == NULL)
        rex_log_hold();
    pthread_mutex_lock(&lock);
    struct rex_unfinished *next = last != NULL ? last->next : rex_unfinished_first;
    while (next != NULL && next->is_ending)
        next = next->next;
    if (next != NULL)
        next->holders++;
    if (last != NULL && --last->holders == 0)
        pthread_cond_broadcast(&let_go);
    pthread_mutex_unlock(&lock);
    if (next == NULL)
        rex_log_resume();
    return next;
}

#define EACH(each)                                 \
    struct rex_unfinished *each = hold_next(NULL); \
    each != NULL;                                  \
    each = hold_next(each)

/*
 * Waits for the commands of the queue BUSY. A thread that is inside the gate (omp/gate.h) leaves
 * the gate during the wait. Returns the result of the wait.
 */
static int sync_outside(struct rex_unfinished *busy)
{
    uint32_t depth = rex_gate_pause();
    int result = busy->sync(busy);
    rex_gate_resume(depth);
    return result;
}

/*
 * Call this if a command of the queue BUSY may use OBJECT, which the call WHAT would end. With
 * REX_UNFINISHED=wait, waits for BUSY and returns the result. Without this setting, the function
 * fails with REX_EBUSY.
 */
static int sync_or_refuse(struct rex_unfinished *busy, const char *what, const char *object)
{
    if (rex_setting_read(REX_OPTION_UNFINISHED)) {
        rex_log(REX_LOG_INFO, "%s: librex waits for queue \"%s\", whose unfinished work may use %s",
                what, busy->name, object);
        return sync_outside(busy);
    }
    return rex_fail(REX_EBUSY,
                    "%s: queue \"%s\" has unfinished work that may use %s: call rex_queue_sync() "
                    "first, or set %s=wait",
                    what, busy->name, object, rex_settings[REX_OPTION_UNFINISHED].variable);
}

/*
 * Returns the index of the first row of MAP whose memory an unfinished command may use, or -1 if
 * there is no such row. A row at NULL has no memory.
 */
static int32_t row_in_use(struct rex_unfinished *unfinished, const struct rex_map *map, int number)
{
    for (int32_t i = 0; i < map->count; i++)
        if (map->begin[i] != NULL && !(map->types[i] & (REX_MAP_LITERAL | REX_MAP_PRIVATE)) &&
            unfinished->uses(unfinished, map->begin[i],
                             map->sizes[i] > 0 ? (size_t)map->sizes[i] : 1, number))
            return i;
    return -1;
}

static int sync_before_row(struct rex_unfinished *busy, const struct rex_map *map, int32_t row,
                           const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "%.160s: map row %d, %lld bytes at %p", what, row,
             (long long)map->sizes[row], map->begin[row]);
    return sync_or_refuse(busy, text, "this memory");
}

/*
 * Checks for a lost device last, because the examination of the queues may find the loss. On a lost
 * device libomptarget would abort.
 */
int rex_before_unmap(const struct rex_map *map, int number, const char *what)
{
    int result = REX_OK;
    int32_t row;
    if (rex_any_unfinished())
        for (EACH(each))
            if (result == REX_OK && (row = row_in_use(each, map, number)) >= 0)
                result = sync_before_row(each, map, row, what);
    return result == REX_OK ? rex_device_lost(number, what) : result;
}

static int sync_with_module(const struct rex_registration *registration, bool last,
                            const char *what, const char *object)
{
    int result = REX_OK;
    for (EACH(each))
        if (result == REX_OK &&
            (each->runs(each, registration) || (last && each->uses(each, NULL, 0, REX_ANY_DEVICE))))
            result = sync_or_refuse(each, what, object);
    return result;
}

int rex_before_unload(const struct rex_registration *registration, const char *image, bool last)
{
    char what[512];
    snprintf(what, sizeof what, "the end of module %.480s", image);
    int result = sync_with_module(registration, last, what, "the module");
    return result == REX_OK ? rex_device_lost(REX_ANY_DEVICE, what) : result;
}

int rex_before_library_unload(const struct rex_registration *registration, const char *image)
{
    char library[512];
    snprintf(library, sizeof library, "library %.480s", image);
    return sync_with_module(registration, false, "rex_library_unload", library);
}

void rex_unfinished_forget(const struct rex_registration *registration)
{
    for (EACH(each))
        each->forget(each, registration);
}

void rex_unfinished_sync(const struct rex_map *map, int number, const char *call)
{
    for (EACH(each))
        if (map != NULL ? row_in_use(each, map, number) >= 0 : each->uses(each, NULL, 0, number)) {
            rex_log(
                REX_LOG_WARN,
                "%s waits for queue \"%s\", whose unfinished work may use the memory of this call: "
                "call rex_queue_sync() first",
                call, each->name);
            sync_outside(each);
        }
}

int rex_unfinished_sync_all(int number)
{
    int result = REX_OK;
    if (!rex_any_unfinished())
        return result;
    for (EACH(each)) {
        int found = each->number == number ? sync_outside(each) : REX_OK;
        if (result == REX_OK)
            result = found;
    }
    return result;
}

void rex_unfinished_wait(const struct rex_map *map, int64_t device, const char *call)
{
    if (rex_has_columns(map) && rex_any_unfinished())
        rex_unfinished_sync(map, rex_openmp_number(device), call);
}

bool rex_unfinished_find_lost(int number, const char *why, struct rex_kernel_list *noted)
{
    bool lost = false;
    for (EACH(each))
        if (each->number == number && each->is_lost(each, why, noted))
            lost = true;
    return lost;
}
