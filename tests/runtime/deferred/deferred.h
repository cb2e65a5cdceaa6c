/*
 * deferred.h - a kernel that is held, deferred behind its launch, and calls that wait for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_DEFERRED_H
#define REX_TESTS_DEFERRED_H

#include <sched.h>
#include <signal.h>

#include "runtime/checks.h"

REX_KERNEL_DECLARE(hold);
REX_KERNEL_DECLARE(add);
REX_KERNEL_DECLARE(triple);
REX_KERNEL_DECLARE(set);

enum { CELLS = 8, SECONDS = 30 };

/* x is mapped all the time and held by a kernel; y is mapped, too, unless a test says otherwise. */
static int64_t x[CELLS], y[CELLS];

UNUSED static int launch(const void *key, const struct rex_map *map)
{
    struct rex_launch_config config = rex_launch_config_of(key, 1, 1);
    return rex_launch(&config, map);
}

#define LAUNCH(kernel, ...)                   \
    __extension__({                           \
        REX_MAP(map_, __VA_ARGS__);           \
        launch(REX_KERNEL_ID(kernel), &map_); \
    })

/* A packet of `add`, which adds one to y. ROWS and ONE are its own, and stay. */
UNUSED static struct __tgt_kernel_arguments packet_of_add(struct rows *rows, int64_t *one)
{
    *one = 1;
    *rows = (struct rows){.count = 0};
    add_literal(rows, one, sizeof *one);
    add_row(rows, y, sizeof y, PARAMETER | TOFROM);
    return packet_of(rows, 1, 1);
}

/* ---- memory that the device and the host see, and librex does not know ----------------------- */

static void *driver(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

/* Of COUNT words, which are 0. */
static int64_t *new_words(size_t count)
{
    int (*retain)(void **context, int device), (*push)(void *context), (*pop)(void **context);
    int (*allocate)(void **memory, size_t size, unsigned flags);
    void *context, *memory;
    find(driver(), "cuDevicePrimaryCtxRetain", &retain);
    find(driver(), "cuCtxPushCurrent_v2", &push);
    find(driver(), "cuCtxPopCurrent_v2", &pop);
    find(driver(), "cuMemHostAlloc", &allocate);
    assert_int_equal(retain(&context, 0), 0);
    assert_int_equal(push(context), 0);
    assert_int_equal(allocate(&memory, count * sizeof(int64_t), 1 /* for all contexts */), 0);
    assert_int_equal(pop(&context), 0);
    return memset(memory, 0, count * sizeof(int64_t));
}

/* ---- the held kernel ------------------------------------------------------------------------- */

static int64_t *word; /* the kernel's: it is held until this is 1 */

static void prepare(void)
{
    word = new_words(1);
}

static int hold_on(int64_t *value)
{
    return LAUNCH(hold, REX_VALUE((int64_t)(intptr_t)word), REX_ALLOC(value, 1));
}

UNUSED static int hold_x(void)
{
    return hold_on(x);
}

static void release(void)
{
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

static int map_array(int (*call)(int64_t, const struct rex_map *), int64_t *array, int64_t type)
{
    REX_MAP(map, rex_row_object(array, sizeof x, type));
    return call(-1, &map);
}

/* Maps x and y. */
static void start(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS); /* a hang is a failure */
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off"));
    OK(rex_offload_init());
    OK(map_array(rex_data_enter, x, TOFROM));
    OK(map_array(rex_data_enter, y, TOFROM));
}

/* Ends what is mapped. LLVM 14's plugin may destroy an event twice as the process ends. */
UNUSED static void finish(void)
{
    int64_t *const arrays[] = {x, y};
    for (int i = 0; i < 2; i++)
        while (rex_target_is_present(arrays[i], sizeof x, -1))
            OK(map_array(rex_data_exit, arrays[i], TOFROM));
    if (release_of_test() == 14)
        _exit(0);
}

/* ---- calls of other threads ------------------------------------------------------------------ */

struct call {
    int (*make)(void);
    pthread_t thread;
    bool is_over;
    int result;
    char message[512];
};

static void *make(void *argument)
{
    struct call *call = argument;
    call->result = call->make();
    snprintf(call->message, sizeof call->message, "%s", rex_last_error());
    __atomic_store_n(&call->is_over, true, __ATOMIC_SEQ_CST);
    return NULL;
}

UNUSED static void start_call(struct call *call, int (*what)(void))
{
    *call = (struct call){.make = what};
    assert_int_equal(pthread_create(&call->thread, NULL, make, call), 0);
}

UNUSED static int result_of(struct call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
    return call->result;
}

/* A call that waits is never over by then. One that does not wait may be: then this fails. */
UNUSED static void still_waits(const struct call *call, const char *name)
{
    for (int i = 0; i < 20; i++) {
        if (__atomic_load_n(&call->is_over, __ATOMIC_SEQ_CST))
            fail_msg("%s did not wait: %d, %s", name, call->result, call->message);
        usleep(1000);
    }
}

/* The call waits for the held kernel, and then succeeds. */
UNUSED static void expect_wait(const char *name, int (*what)(void))
{
    struct call call;
    start_call(&call, what);
    still_waits(&call, name);
    release();
    if (result_of(&call) != REX_OK)
        fail_msg("%s: %d, %s", name, call.result, call.message);
}

#endif
