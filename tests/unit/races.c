/*
 * races.c - what a thread may ask of a module while another ends it and registers it again. ThreadSanitizer sees what goes wrong here
 * (make tsan K=unit/races); without it, the answers are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>
#include <time.h>

#include "module/adopt.h"
#include "module/modules.h"
#include "omp/flight.h"
#include "rex/device.h"
#include "rex/entry.h"

#define KERNELS 50

static char keys[KERNELS], names[KERNELS][32];
static struct __tgt_offload_entry entries[KERNELS];
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entries,
                                   .entries_end = entries + KERNELS};

static int stop;
static const char *wrong;

static void *ask(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        rex_module_on_host(&module);
        rex_module_image_path(&module);
        for (int i = 0; i < KERNELS; i++) {
            if (rex_modules_find(&keys[i]) != &module)
                wrong = "a key is in no module";
            /* as a trace asks for it */
            const char *name = rex_kernel_name(&keys[i]);
            if (name != NULL && strcmp(name, names[i]) != 0)
                wrong = "a kernel has another one's name";
        }
    }
    return unused;
}

static void registers_again(const void *context)
{
    enum { THREADS = 3, ROUNDS = 40 };
    pthread_t threads[THREADS];
    const char *images[] = {FAKE("host.so"), "tests/data/sm_90.cubin"};
    (void)context;
    use_gpu(90);
    use_release(16);
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "plain__kernel__");
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
    }
    CHECK(rex_module_register_image(&module, images[0]) != NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK(rex_module_register_image(&module, images[i % 2]) != NULL);
        CHECK_EQUAL(rex_module_on_host(&module), i % 2 == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (wrong != NULL)
        fprintf(stderr, "%s\n", wrong);
    CHECK(wrong == NULL);
}

static void test_registers_again(void **state)
{
    (void)state;
    in_child(registers_again, NULL);
}

/* ---- what is remembered while nobody may launch ------------------------------------------------------------------------------------- */

static int times_forgotten;
static bool is_remembered;

/* A launch that was inside when the others were stopped remembers something, once, after it was asked to forget. */
static void forget(void)
{
    is_remembered = times_forgotten++ == 0;
}

static void remembers_late(const void *context)
{
    use_release(*(const int *)context);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    rex_flight_on_stop(forget);
    CHECK_EQUAL(rex_flight_register("a test"), 0);
    CHECK(times_forgotten > 0 && !is_remembered);
    rex_flight_registered();
}

static void test_remembers_late(void **state)
{
    static const int releases[] = {14, 19, 22};
    (void)state;
    for (size_t i = 0; i < COUNT(releases); i++)
        in_child(remembers_late, &releases[i]);
}

/* ---- who waits for others, and how long --------------------------------------------------------------------------------------------- */

/* rules.mk leads calls of nanosleep() here: no time passes. What was slept is counted. */
static uint64_t naps, slept;
static bool is_counted;
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (!is_counted)
        return __real_nanosleep(time, rest);
    naps++;
    slept += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
    return 0;
}

static int context_users(void)
{
    int (*users)(void);
    void *address = in_driver("fake_cuda_context_users");
    memcpy(&users, &address, sizeof users);
    return users();
}

static pthread_barrier_t is_inside, may_leave;

static void *be_inside(void *unused)
{
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    pthread_barrier_wait(&is_inside);
    pthread_barrier_wait(&may_leave);
    rex_flight_end();
    return unused;
}

/* Another thread stays inside: after a minute it is said, and nothing is left of the try. */
static void never_alone(const void *context)
{
    pthread_t thread;
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&thread, NULL, be_inside, NULL), 0);
    pthread_barrier_wait(&is_inside);
    is_counted = true;
    CHECK_EQUAL(rex_flight_register("a test"), REX_EBUSY);
    CHECK(strcmp(rex_last_error(), "a test: launches or data calls of other threads have not ended in a minute, and no module is "
                                   "registered or ended beside them") == 0);
    /* 50 us, each nap twice as long as the one before, up to 10 ms; 6000 of them. */
    CHECK_EQUAL(naps, 6000);
    CHECK_EQUAL(slept / 1000, 50 * 255 + (6000 - 8) * 10000);
    /* The way in is open. */
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    CHECK_EQUAL(rex_flight_register("a test"), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "a test: a module is neither registered nor ended inside of a launch, a data call or another "
                                     "registration");
    rex_flight_end();
    CHECK_EQUAL(naps, 6000);
    pthread_barrier_wait(&may_leave);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    CHECK_EQUAL(rex_flight_register("a test"), REX_EBUSY);
    rex_flight_registered();
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_end();
    CHECK_EQUAL(naps, 6000);
}

/* The same of a module: it is not registered, holds no context, and can be registered later; or it is registered still. */
static void module_never_alone(const void *context)
{
    pthread_t thread;
    (void)context;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_gpu_count(), 1);
    entries[0] = (struct __tgt_offload_entry){&keys[0], (char *)(uintptr_t)"plain__kernel__", 0, 0, 0};
    module.entries_end = entries + 1;
    module.image_name = "tests/data/sm_90.cubin";
    for (int is_end = 0; is_end < 2; is_end++) {
        int objects = context_users();
        pthread_barrier_init(&is_inside, NULL, 2);
        pthread_barrier_init(&may_leave, NULL, 2);
        CHECK_EQUAL(pthread_create(&thread, NULL, be_inside, NULL), 0);
        pthread_barrier_wait(&is_inside);
        is_counted = true;
        CHECK_EQUAL(is_end ? rex_module_fini(&module) : rex_module_register(&module), REX_EBUSY);
        CHECK_MENTIONS(rex_last_error(), "tests/data/sm_90.cubin: launches or data calls of other threads have not ended in a minute");
        is_counted = false;
        CHECK_EQUAL(context_users(), objects);
        CHECK_EQUAL(rex_registration_of(&module) != NULL, is_end);
        CHECK_EQUAL(the_record()->registered, is_end);
        pthread_barrier_wait(&may_leave);
        pthread_join(thread, NULL);
        CHECK_EQUAL(is_end ? rex_module_fini(&module) : rex_module_register(&module), REX_OK);
        CHECK_EQUAL(context_users(), !is_end);
    }
}

static void *end_module(void *unused)
{
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    return unused;
}

/* Who ends a module that another thread is ending leaves it to that one, and does not wait; who registers it waits. */
static void ends_beside(const void *context)
{
    pthread_t thread, other;
    (void)context;
    use_gpu(90);
    use_release(22);
    entries[0] = (struct __tgt_offload_entry){&keys[0], (char *)(uintptr_t)"plain__kernel__", 0, 0, 0};
    module.entries_end = entries + 1;
    module.image_name = "tests/data/sm_90.cubin";
    CHECK_EQUAL(rex_module_register(&module), REX_OK);
    uintptr_t registered = module.state;
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&thread, NULL, be_inside, NULL), 0);
    pthread_barrier_wait(&is_inside);
    CHECK_EQUAL(pthread_create(&other, NULL, end_module, NULL), 0);
    while (__atomic_load_n(&module.state, __ATOMIC_ACQUIRE) == registered)
        usleep(100);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(rex_registration_of(&module) != NULL);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
    pthread_barrier_wait(&may_leave);
    CHECK_EQUAL(rex_module_register(&module), REX_OK);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    CHECK_EQUAL(rex_module_register(&module), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 1);
    CHECK_EQUAL(the_record()->registered, 1);
}

static void test_modules_alone(void **state)
{
    (void)state;
    in_child(module_never_alone, NULL);
    in_child(ends_beside, NULL);
}

static void test_never_alone(void **state)
{
    (void)state;
    const char *output = in_child(never_alone, NULL);
    assert_int_equal(occurrences(output, "librex: a test: waiting for launches and data calls of other threads\n"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_again),
        cmocka_unit_test(test_remembers_late),
        cmocka_unit_test(test_never_alone),
        cmocka_unit_test(test_modules_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
