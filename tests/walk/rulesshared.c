/*
 * rulesshared.c - two arrays that all threads map and a kernel adds to. In which order they do is
 * not known; what comes out is, since sums have no order. It is compared when all are over.
 *
 * The copies of X are always the same numbers. Y on the host may be any sum on the way.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "inqueue.h"
#include "rules.h"

enum { SHARED = 256 };

static int64_t x[SHARED], y[SHARED];
static uint64_t sums[SHARED];
static bool is_used;
static struct rex_queue *queue; /* of all threads */
static _Thread_local int entered; /* how often this thread has mapped them */

static struct rex_launch_config launch_of(struct rex_queue *in)
{
    struct rex_launch_config launch = {.key = walk_share_key(), .device = 0, .queue = in,
                                       .teams = {1, 1, 1}, .threads = {1, 1, 1}};
    return launch;
}

static void must(const char *what, int result)
{
    if (result != REX_OK)
        walk_found("%s of what threads share fails: %s", what, rex_last_error());
}

void walk_share_begin(bool use)
{
    is_used = use;
    if (!use)
        return;
    for (int i = 0; i < SHARED; i++)
        x[i] = i + 1;
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    must("a region", rex_module_data_enter(&walk_modules[0], 0, &region));
    must("a queue", rex_module_queue_create(&queue, &walk_modules[0], 0, "shared", 0, NULL));
}

void walk_share_end(void)
{
    if (!is_used)
        return;
    must("a wait for the queue", rex_queue_destroy(queue));
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    must("the end", rex_module_region_end(&walk_modules[0], 0, &region));
    for (int i = 0; i < SHARED; i++)
        if ((uint64_t)y[i] != sums[i])
            walk_found("the sum of all threads at %d is %lld, and should be %lld", i,
                       (long long)y[i], (long long)sums[i]);
}

void walk_share_leave(void)
{
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    while (entered > 0) {
        int result = rex_module_region_end(&walk_modules[0], 0, &region);
        must("an end", result == REX_EBUSY ? rex_queue_sync(queue) : result);
        entered -= result == REX_OK;
    }
}

OWN_RULE(share_enter, "", 1)
{
    (void)call;
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    if (!is_used)
        return;
    must("a begin", rex_module_data_enter(&walk_modules[0], 0, &region));
    entered++;
}

/* The last mapping is the process's: no end here waits for a queue. */
OWN_RULE(share_exit, "", 1)
{
    (void)call;
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    if (entered == 0)
        return;
    int result = rex_module_region_end(&walk_modules[0], 0, &region);
    if (result != REX_EBUSY)
        must("an end", result);
    entered -= result == REX_OK;
}

static void launch(const struct call *call, struct rex_queue *in)
{
    int64_t n = walk_integer(call, 0), a = walk_integer(call, 1);
    if (!is_used || n > SHARED)
        return;
    struct rex_launch_config config = launch_of(in);
    REX_MAP(rows, REX_VALUE(n), REX_VALUE(a), REX_TO(x, SHARED), REX_TOFROM(y, SHARED));
    walk_before();
    int result = rex_module_launch_map(&walk_modules[0], &config, &rows);
    if (!walk_judge_int(call, result, walk_may_refuse() && in == NULL ? EITHER : MUST_WORK))
        return;
    for (int64_t i = 0; i < n; i++)
        __atomic_fetch_add(&sums[i], (uint64_t)a * (uint64_t)(i + 1), __ATOMIC_RELAXED);
}

OWN_RULE(share_add, "ni", 3)
{
    launch(call, NULL);
}

OWN_RULE(share_add_in_queue, "ni", 2)
{
    launch(call, queue);
}

/* What goes to the device is what is there. */
OWN_RULE(share_update, "", 1)
{
    (void)call;
    REX_MAP(rows, REX_TO(x, SHARED));
    if (is_used)
        must("an update", rex_module_data_update(&walk_modules[0], 0, &rows));
}

OWN_RULE(share_sync, "", 1)
{
    (void)call;
    if (is_used)
        must("a wait", rex_queue_sync(queue));
}

OWN_RULE(share_ask, "", 1)
{
    (void)call;
    if (is_used && (!rex_target_is_present(y, sizeof y, 0) || rex_mapped_ptr(x, 0) == NULL))
        walk_found("what threads share is not mapped: %s", rex_last_error());
}
