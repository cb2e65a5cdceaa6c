/*
 * deferred.c - the stream of deferred launches, where the driver makes no event or all are waited for, and the end of a module that meets
 * with a late launch. The rest is seen by runtime/deferred.
 *
 * The driver is a fake, and some of its functions are the test's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <pthread.h>
#include <semaphore.h>

#include "cuda/context.h"
#include "cuda/deferred.h"
#include "cuda/lost.h"
#include "module/registry.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "rex_kmp.h"
#include "stateless.h"

static void count(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    computed++;
}

static int (*real_synchronize)(void *event);

static void start(void)
{
    static const size_t none[] = {8};
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off"), REX_OK);
    use_computing_gpu(22, "late");
    name_kernel("nothing__kernel__", count, 0, none);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

/* The number of the launch. */
static uint64_t launch(void)
{
    struct rex_launch_config config = rex_launch_config_of(&nothing_id, 1, 1);
    uint64_t before = rex_deferred_newest(0);
    CHECK_EQUAL(rex_module_launch_map(&module, &config, NULL), REX_OK);
    CHECK_EQUAL(rex_deferred_newest(0), before + 1);
    return before + 1;
}

/* ---- the end of a module --------------------------------------------------------------------- */

static int waits;

/* Another thread's launch gets its number after the first wait has begun: that wait does not see it. */
static int launch_late(void *event)
{
    if (waits++ == 0) {
        CHECK(rex_deferred_begin(0, 0) != NULL);
        CHECK_EQUAL(rex_deferred_put(0, "nothing", rex_registration_of(&module), 0), 2);
    }
    return real_synchronize(event);
}

TEST_IN_CHILD(end_looks_again)
{
    start();
    CHECK_EQUAL(launch(), 1);
    real_synchronize = rex_driver.cuEventSynchronize;
    rex_driver.cuEventSynchronize = launch_late;
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(waits, 2);
    CHECK_EQUAL(rex_deferred_seen(0), 2);
}

/* Without a stream the launch is made at once. */
TEST_IN_CHILD(make_no_stream)
{
    struct rex_launch_config config = rex_launch_config_of(&nothing_id, 1, 1);
    start();
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuDevicePrimaryCtxRetain:2:0", 1);
    CHECK_EQUAL(rex_module_launch_map(&module, &config, NULL), REX_OK);
    CHECK_EQUAL(rex_deferred_newest(0), 0);
    CHECK_EQUAL(computed, 1);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch(), 1);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Of another stream that follows the launches. */
static int precede(void)
{
    void *stream = NULL, *context;
    CHECK_EQUAL(rex_context_retain(0, &context), REX_OK);
    int entered = rex_context_enter(context);
    CHECK_EQUAL(rex_driver.cuStreamCreate(&stream, REX_CUDA_STREAM_NON_BLOCKING), 0);
    int result = rex_deferred_precede(0, stream);
    CHECK_EQUAL(rex_driver.cuStreamDestroy(stream), 0);
    rex_context_leave(entered);
    rex_context_drop(0);
    return result;
}

/* The wait is one for the stream. */
static void expect_wait_for_stream(uint64_t number)
{
    int before = driver_calls("cuStreamSynchronize");
    rex_deferred_wait_for(0, number);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), before + 1);
    CHECK_EQUAL(rex_deferred_seen(0), number);
    CHECK_EQUAL(computed, number);
}

TEST_IN_CHILD(make_no_event)
{
    start();
    uint64_t number = launch();
    setenv("FAKE_CUDA_BREAKS", "cuEventCreate:2:0", 1);
    CHECK_EQUAL(precede(), 2);
    CHECK(!rex_deferred_poll(0, number, 1));
    CHECK_EQUAL(rex_device_lost(0, "test"), REX_OK);
    expect_wait_for_stream(number);
}

enum { MARKS = 16 };
static sem_t has_come, may_go;

static int stay(void *event)
{
    sem_post(&has_come);
    sem_wait(&may_go);
    return real_synchronize(event);
}

static void *wait_for(void *number)
{
    rex_deferred_wait_for(0, *(const uint64_t *)number);
    return NULL;
}

TEST_IN_CHILD(wait_for_all_events)
{
    pthread_t thread[MARKS];
    uint64_t number[MARKS];
    start();
    sem_init(&has_come, 0, 0);
    sem_init(&may_go, 0, 0);
    launch();
    rex_deferred_wait_all();
    real_synchronize = rex_driver.cuEventSynchronize;
    rex_driver.cuEventSynchronize = stay;
    for (int i = 0; i < MARKS; i++) {
        number[i] = launch();
        CHECK_EQUAL(pthread_create(&thread[i], NULL, wait_for, &number[i]), 0);
        sem_wait(&has_come);
    }
    uint64_t last = launch();
    int events = driver_calls("cuEventCreate");
    CHECK_EQUAL(precede(), 0);
    CHECK_EQUAL(driver_calls("cuEventCreate"), events + 1);
    setenv("FAKE_CUDA_BREAKS", "cuEventCreate:2:0", 1);
    CHECK_EQUAL(precede(), 2);
    expect_wait_for_stream(last);
    for (int i = 0; i < MARKS; i++)
        sem_post(&may_go);
    for (int i = 0; i < MARKS; i++)
        CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    CHECK_EQUAL(rex_deferred_seen(0), last);
}
