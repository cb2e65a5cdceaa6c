/*
 * path.c - which functions and how many locks a call of librex goes through: a waiting launch by the driver on mapped memory, a launch in a
 * queue, rex_data_enter() of one map row, and a waiting launch on another device. tests/bench/path compiles the library with calls of the functions below.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

REX_KERNEL(bench_2);

enum { MOST = 4096, ELEMENTS = 1000 };
static uintptr_t entered[MOST];
static size_t count;
static const void *taken[MOST]; /* the locks */
static size_t locks;
static bool is_on;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (is_on && count < MOST)
        entered[count++] = (uintptr_t)function;
}

void __cyg_profile_func_exit(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (is_on && locks < MOST)
        taken[locks++] = mutex;
    return __real_pthread_mutex_lock(mutex);
}

static double x[ELEMENTS], y[ELEMENTS], z[ELEMENTS];
static struct rex_queue *queue;

static int64_t device; /* of a launch */

static int launch(bool in_queue)
{
    REX_MAP(map, REX_VALUE((int64_t)ELEMENTS), REX_VALUE(2.0), REX_TO(x, ELEMENTS),
            REX_TOFROM(y, ELEMENTS));
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(bench_2), 4, 64);
    config.queue = in_queue ? queue : NULL;
    config.device = in_queue ? -1 : device;
    return rex_launch(&config, &map);
}

static int begin(bool unused)
{
    (void)unused;
    REX_MAP(map, REX_TO(z, ELEMENTS));
    return rex_data_enter(-1, &map);
}

static int end(void)
{
    REX_MAP(map, REX_TO(z, ELEMENTS));
    return rex_data_exit(-1, &map);
}

/* One call, after some that made what stays. */
static int show(const char *name, int (*call)(bool in_queue), bool in_queue)
{
    int result = 0;
    for (int i = 0; i < 20 && result == 0; i++) {
        count = locks = 0;
        is_on = true;
        result = call(in_queue);
        is_on = false;
        if (call == begin && result == 0)
            result = end();
        if (in_queue && result == 0)
            result = rex_queue_sync(queue);
    }
    for (size_t i = 0; i < count; i++)
        printf("%s %#" PRIxPTR "\n", name, entered[i]);
    printf("%s locks %zu\n", name, locks);
    for (size_t i = 0; i < locks; i++)
        printf("%s took %p\n", name, taken[i]);
    return result;
}

int main(void)
{
    REX_MAP(region, REX_TO(x, ELEMENTS), REX_TOFROM(y, ELEMENTS));
    if (rex_data_enter(0, &region) != 0 || rex_data_enter(1, &region) != 0 ||
        rex_queue_create(&queue, -1, NULL, 0) != 0)
        return 1;
    int failed = show("queue", launch, true);
    failed |= rex_queue_destroy(queue);
    failed |= show("launch", launch, false) | show("begin", begin, false);
    device = 1;
    failed |= show("other", launch, false);
    return failed != 0 || rex_data_exit(0, &region) != 0 || rex_data_exit(1, &region) != 0;
}
