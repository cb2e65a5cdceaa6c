/*
 * races.c - what a thread may ask of a module while another ends it and registers it again. ThreadSanitizer sees what goes wrong here
 * (make tsan K=unit/races); without it, the answers are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "module/adopt.h"
#include "module/modules.h"
#include "omp/calls.h"
#include "omp/flight.h"
#include "omp/memorycalls.h"
#include "omp/runtime.h"
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

TEST_IN_CHILD(registers_again)
{
    enum { THREADS = 3, ROUNDS = 40 };
    pthread_t threads[THREADS];
    const char *images[] = {FAKE("host.so"), "tests/data/sm_90.cubin"};
    use_gpu(90);
    use_release(16);
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "plain__kernel__");
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
    }
    CHECK(rex_module_register(&module, images[0]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK(rex_module_register(&module, images[i % 2]) == 0);
        CHECK_EQUAL(rex_module_on_host(&module), i % 2 == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (wrong != NULL)
        fprintf(stderr, "%s\n", wrong);
    CHECK(wrong == NULL);
}

/* ---- what is remembered while nobody may launch ------------------------------------------------------------------------------------- */

static int times_forgotten;
static bool is_remembered;

/* A launch that was inside when the others were stopped remembers something, once, after it was asked to forget. */
static void forget(void)
{
    is_remembered = times_forgotten++ == 0;
}

TEST_ON_FAKES(remembers_late, 14, 19, 22)
{
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    rex_flight_on_stop(forget);
    CHECK_EQUAL(rex_flight_register("a test"), 0);
    CHECK(times_forgotten > 0 && !is_remembered);
    rex_flight_registered();
}

/* ---- who waits for others, and how long --------------------------------------------------------------------------------------------- */

/* rules.mk leads calls of nanosleep() here: no time passes. What was slept is counted. */
static uint64_t naps, slept;
static bool is_counted, lets_go_at_nap, is_gate_up;
static __thread bool is_looking; /* a thread that ends where it would wait */
static void (*at_nap)(void);
static pthread_barrier_t is_inside, may_leave;
static pthread_t leaver;

/* The thread that is inside, or registers, leaves, and has left by then, however long that takes it. */
static void let_leave(void)
{
    pthread_barrier_wait(&may_leave);
    CHECK_EQUAL(pthread_join(leaver, NULL), 0);
}

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (!is_counted)
        return __real_nanosleep(time, rest);
    if (is_looking) {
        is_gate_up = true;
        pthread_exit(NULL);
    }
    naps++;
    if (at_nap != NULL)
        at_nap();
    if (lets_go_at_nap)
        let_leave();
    lets_go_at_nap = false;
    slept += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
    return 0;
}

static void *be_inside(void *unused)
{
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    pthread_barrier_wait(&is_inside);
    pthread_barrier_wait(&may_leave);
    rex_flight_leave();
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
    rex_flight_leave();
    CHECK_EQUAL(naps, 6000);
    pthread_barrier_wait(&may_leave);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    CHECK_EQUAL(rex_flight_register("a test"), REX_EBUSY);
    rex_flight_registered();
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    CHECK_EQUAL(naps, 6000);
}

/* The same of a module: it is not registered, holds no context, and can be registered later; or it is registered still. */
TEST_IN_CHILD(module_never_alone)
{
    pthread_t thread;
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
        CHECK_EQUAL(is_end ? rex_module_fini(&module) : rex_module_register(&module, NULL), REX_EBUSY);
        CHECK_MENTIONS(rex_last_error(), "tests/data/sm_90.cubin: launches or data calls of other threads have not ended in a minute");
        is_counted = false;
        CHECK_EQUAL(context_users(), objects);
        CHECK_EQUAL(rex_registration_of(&module) != NULL, is_end);
        CHECK_EQUAL(the_record()->registered, is_end);
        pthread_barrier_wait(&may_leave);
        pthread_join(thread, NULL);
        CHECK_EQUAL(is_end ? rex_module_fini(&module) : rex_module_register(&module, NULL), REX_OK);
        CHECK_EQUAL(context_users(), !is_end);
    }
}

static void *end_module(void *unused)
{
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    return unused;
}

/* Who ends a module that another thread is ending leaves it to that one, and does not wait; who registers it waits. */
TEST_IN_CHILD(ends_beside)
{
    pthread_t thread, other;
    use_gpu(90);
    use_release(22);
    entries[0] = (struct __tgt_offload_entry){&keys[0], (char *)(uintptr_t)"plain__kernel__", 0, 0, 0};
    module.entries_end = entries + 1;
    module.image_name = "tests/data/sm_90.cubin";
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
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
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 1);
    CHECK_EQUAL(the_record()->registered, 1);
}

TEST(test_never_alone)
{
    const char *output = in_child(never_alone, NULL);
    assert_int_equal(occurrences(output, "librex: info: a test: waiting for launches and data calls of other threads\n"), 1);
}

static void *look(void *unused)
{
    is_looking = true;
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    return unused;
}

static bool would_wait(void)
{
    pthread_t thread;
    is_gate_up = false;
    CHECK_EQUAL(pthread_create(&thread, NULL, look, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    return is_gate_up;
}

/* Whether others may enter during the first naps: at first in each, then in every other one. */
enum { LOOKS = 12 };
static char gates[LOOKS + 1];

static void look_at_gate(void)
{
    CHECK(naps <= LOOKS);
    gates[naps - 1] = would_wait() ? 'u' : '-';
    if (naps == LOOKS)
        let_leave();
}

TEST_IN_CHILD(is_let_in)
{
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&leaver, NULL, be_inside, NULL), 0);
    pthread_barrier_wait(&is_inside);
    at_nap = look_at_gate;
    is_counted = true;
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    at_nap = NULL;
    CHECK(strcmp(gates, "----u-u-u-u-") == 0);
    CHECK(would_wait());
    rex_flight_registered();
    CHECK(!would_wait());
}

/* A launch that is like the one before asks nobody: one that begins between the two looks is seen by the second. */
static pthread_barrier_t is_listed, may_begin;

static void *begins(void *unused)
{
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    pthread_barrier_wait(&is_listed);
    pthread_barrier_wait(&may_begin);
    rex_flight_begin();
    pthread_barrier_wait(&is_inside);
    pthread_barrier_wait(&may_leave);
    rex_flight_end();
    return unused;
}

static void lets_begin(void)
{
    if (++times_forgotten != 2)
        return;
    pthread_barrier_wait(&may_begin);
    pthread_barrier_wait(&is_inside);
}

TEST_IN_CHILD(begins_late)
{
    pthread_barrier_init(&is_listed, NULL, 2);
    pthread_barrier_init(&may_begin, NULL, 2);
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&leaver, NULL, begins, NULL), 0);
    pthread_barrier_wait(&is_listed);
    rex_flight_on_stop(lets_begin);
    lets_go_at_nap = is_counted = true;
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    CHECK(naps > 0 && times_forgotten > 2);
    rex_flight_registered();
}

/* ---- forks, and ends ------------------------------------------------------------------------------------------------ */

static void *is_registering(void *unused)
{
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    pthread_barrier_wait(&is_inside);
    pthread_barrier_wait(&may_leave);
    rex_flight_registered();
    return unused;
}

/* A child of fork does what BODY says; its parent has nothing of it. */
static void fork_and(void (*body)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void goes_on(void)
{
    CHECK_EQUAL(rex_flight_check(), REX_OK);
    CHECK(!rex_flight_is_torn() && !rex_flight_is_over());
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    rex_flight_registered();
}

static void cannot_go_on(void)
{
    CHECK_EQUAL(rex_flight_check(), REX_EFORK);
    CHECK(rex_flight_is_torn() && !rex_flight_is_over());
    CHECK(strcmp(rex_last_error(), "this process was forked while another thread of its parent was inside libomptarget: start the child with "
                                   "exec, or fork while no other thread launches or maps") == 0);
    CHECK_EQUAL(rex_flight_enter(), REX_EFORK);
    CHECK_EQUAL(rex_flight_register("a test"), REX_EFORK);
    CHECK(!rex_flight_is_inside());
}

static void registration_goes_on(void)
{
    CHECK_EQUAL(rex_flight_check(), REX_OK);
    rex_flight_registered();
    goes_on();
}

static void call_goes_on(void)
{
    CHECK(rex_flight_is_inside());
    CHECK_EQUAL(rex_flight_check(), REX_OK);
    rex_flight_leave();
    goes_on();
}

static void forks(const void *other_thread)
{
    pthread_t thread;
    goes_on();
    fork_and(goes_on);
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    fork_and(call_goes_on);
    rex_flight_leave();
    CHECK_EQUAL(rex_flight_register("a test"), REX_OK);
    fork_and(registration_goes_on);
    rex_flight_registered();
    /* Another thread, which is inside, or registers, or was there before. */
    void *(*body)(void *);
    memcpy(&body, other_thread, sizeof body);
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
    pthread_barrier_wait(&is_inside);
    fork_and(cannot_go_on);
    CHECK_EQUAL(rex_flight_check(), REX_OK); /* the parent is what it was */
    pthread_barrier_wait(&may_leave);
    pthread_join(thread, NULL);
    fork_and(goes_on);
    goes_on();
}

TEST(test_forks)
{
    void *(*inside)(void *) = be_inside, *(*registering)(void *) = is_registering;
    in_child(forks, &inside);
    in_child(forks, &registering);
}

/* Where nobody may enter, nothing of libomptarget is called, and each answer is the one that does no harm. */
static void asks_in_vain(void)
{
    const struct rex_omp *omp = rex_runtime_omp();
    char bytes[2] = "";
    uint32_t before[] = {the_record()->touches, the_record()->lookups};
    CHECK_EQUAL(rex_flight_check(), REX_EFORK);
    CHECK_EQUAL(rex_runtime_device_count(), 0);
    CHECK_EQUAL(omp->is_present(bytes, 0), 0);
    CHECK_EQUAL(omp->disassociate(bytes, 0), -1);
    CHECK(omp->mapped_pointer(bytes, 0) == NULL);
    CHECK(omp->alloc(8, 0) == NULL);
    omp->free(bytes, 0);
    CHECK_EQUAL(omp->copy(bytes, bytes + 1, 1, 0, 0, 0, 0), REX_EFORK);
    struct __tgt_kernel_arguments packet = {.Version = 3};
    struct rex_map map = {.count = 0};
    int returned = 17;
    CHECK_EQUAL(rex_call_kernel(NULL, 0, bytes, &packet, (struct rex_reason){0, NULL}, &returned), REX_EFORK);
    CHECK_EQUAL(rex_call_data(REX_DATA_BEGIN, "a test", 0, &map), REX_EFORK);
    CHECK(returned == 17 && the_record()->count == 0);
    CHECK(the_record()->touches == before[0] && the_record()->lookups == before[1]);
    CHECK(!rex_flight_is_inside());
}

TEST_IN_CHILD(asks)
{
    pthread_t thread;
    char from[] = "abcdefgh", to[] = "12345678";
    use_release(16);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    const struct rex_omp *omp = rex_runtime_omp();
    CHECK_EQUAL(omp->copy(to, from, 3, 1, 4, 0, 0), 0);
    CHECK(strcmp(to, "1efg5678") == 0);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)from, sizeof from, 0x1000};
    CHECK_EQUAL(omp->is_present(from, 0), 1);
    CHECK_EQUAL(omp->is_present(to, 0), 0);
    CHECK(omp->mapped_pointer(from + 3, 0) == (void *)0x1003 && omp->mapped_pointer(to, 0) == NULL);
    /* Its own calls, each column in its place. */
    static const enum fake_function functions[] = {[REX_DATA_BEGIN] = FAKE_BEGIN, [REX_DATA_END] = FAKE_END, [REX_DATA_UPDATE] = FAKE_UPDATE};
    void *base[] = {from}, *begin[] = {to};
    int64_t sizes[] = {8}, types[] = {1};
    struct rex_map map = {.count = 1, .base = base, .begin = begin, .sizes = sizes, .types = types};
    for (size_t i = 0; i < COUNT(functions); i++) {
        CHECK_EQUAL(rex_call_data((enum rex_data_call)i, "a test", 5, &map), REX_OK);
        const struct fake_call *call = last_call(functions[i]);
        CHECK(call->device == 5 && call->base[0] == from && call->begin[0] == to && call->sizes[0] == 8 && call->types[0] == 1);
    }
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {4, 1, 1}, .Threads = {6, 1, 1}};
    int returned = 17;
    the_record()->result = 3;
    CHECK_EQUAL(rex_call_kernel(NULL, 2, from, &packet, (struct rex_reason){0, NULL}, &returned), REX_OK);
    const struct fake_call *call = last_call(FAKE_KERNEL);
    CHECK(returned == 3 && call->device == 2 && call->teams == 4 && call->threads == 6 && call->key == from);
    the_record()->count = 0;
    CHECK(!rex_flight_is_inside());
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&thread, NULL, be_inside, NULL), 0);
    pthread_barrier_wait(&is_inside);
    fork_and(asks_in_vain);
    pthread_barrier_wait(&may_leave);
    pthread_join(thread, NULL);
}

/* Whoever comes while another thread registers waits, in naps of 20 us: also after a fork, which has raised the gate and lowered it. */
TEST_IN_CHILD(waits_for_a_registration)
{
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&leaver, NULL, is_registering, NULL), 0);
    pthread_barrier_wait(&is_inside);
    fork_and(cannot_go_on);
    lets_go_at_nap = is_counted = true;
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    CHECK(naps > 0 && slept == naps * 20000);
    CHECK(rex_flight_is_inside());
    rex_flight_leave();
    CHECK(!rex_flight_is_inside());
}

/* So does another registration. */
TEST_IN_CHILD(waits_to_register)
{
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    CHECK_EQUAL(pthread_create(&leaver, NULL, is_registering, NULL), 0);
    pthread_barrier_wait(&is_inside);
    lets_go_at_nap = is_counted = true;
    CHECK_EQUAL(rex_flight_register("another test"), REX_OK);
    CHECK(naps > 0);
    rex_flight_registered();
}

/*
 * The destructors of a thread run in four rounds, of which the last one takes it off the list for good. ThreadSanitizer ends the thread in
 * that round, and what it instruments cannot run any more: the thread then enters in the first two alone, and leaves the list in the third.
 */
#ifdef __SANITIZE_THREAD__
enum { IS_CUT_SHORT = true, ENTRIES = 2 };
#else
enum { IS_CUT_SHORT = false, ENTRIES = 4 };
#endif
static pthread_key_t key;
static int entered[8];
static size_t rounds;

static void enters_again(void *value)
{
    entered[rounds] = rex_flight_enter();
    if (entered[rounds] == REX_OK)
        rex_flight_leave();
    else
        CHECK(strcmp(rex_last_error(), "the thread is ending: do this before its last destructors") == 0);
    if (++rounds < ENTRIES || !IS_CUT_SHORT)
        CHECK_EQUAL(pthread_setspecific(key, value), 0);
}

static void *ends(void *unused)
{
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    CHECK_EQUAL(pthread_setspecific(key, &key), 0);
    return unused;
}

TEST_IN_CHILD(last_destructors)
{
    pthread_t thread;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
    CHECK_EQUAL(pthread_key_create(&key, enters_again), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, ends, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(rounds, ENTRIES);
    CHECK(entered[0] == REX_OK && entered[1] == REX_OK);
    CHECK(IS_CUT_SHORT || (entered[2] == REX_OK && entered[3] == REX_EINVAL));
    goes_on(); /* nobody is on the list who is not there */
}

/* A thread that ends inside of a launch is not waited for; nor does a thread take one of the process's keys, of which there are few. */
static void *ends_inside(void *unused)
{
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    return unused;
}

TEST_IN_CHILD(nobody_inside)
{
    pthread_t thread;
    for (int i = 0; i < PTHREAD_KEYS_MAX; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, ends_inside, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
    }
    is_counted = true;
    goes_on();
    CHECK_EQUAL(naps, 0);
}

/* A thread that cannot be told of at its end does not begin. */
static bool has_no_place;
int __real_pthread_setspecific(pthread_key_t which, const void *value);
int __wrap_pthread_setspecific(pthread_key_t which, const void *value);
int __wrap_pthread_setspecific(pthread_key_t which, const void *value)
{
    return has_no_place ? ENOMEM : __real_pthread_setspecific(which, value);
}

static void *has_none(void *unused)
{
    has_no_place = true;
    CHECK_EQUAL(rex_flight_enter(), REX_ENOMEM);
    CHECK(strcmp(rex_last_error(), "out of memory, also for the message") == 0);
    has_no_place = false;
    CHECK_EQUAL(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    return unused;
}

TEST_IN_CHILD(without_memory)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, has_none, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    goes_on();
}

/* What is registered with atexit() before runs after it. */
static void at_the_very_end(void)
{
    CHECK(rex_flight_is_over() && !rex_flight_is_torn());
    CHECK_EQUAL(rex_flight_check(), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "the process is ending, and libomptarget with it: do this before main() returns or exit() is called") == 0);
    CHECK_EQUAL(rex_flight_enter(), REX_EINVAL);
    CHECK_EQUAL(times_forgotten, 1);
}

static void before_the_end(void)
{
    CHECK(!rex_flight_is_over());
    times_forgotten = 0;
}

TEST_IN_CHILD(process_ends)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
    CHECK_EQUAL(atexit(at_the_very_end), 0);
    rex_flight_watch_exit();
    rex_flight_on_stop(forget);
    CHECK_EQUAL(atexit(before_the_end), 0);
    rex_flight_watch_exit(); /* once is enough */
    exit(0);
}

TEST(test_ends)
{
    if (IS_CUT_SHORT)
        print_message("left out: the last two rounds of a thread's destructors: ThreadSanitizer ends the thread itself in the last\n");
}

/* What is said of the devices is what each thread has from its next call on. */
TEST(test_devices)
{
    assert_int_equal(rex_flight_enter(), REX_OK);
    rex_flight_leave();
    rex_flight_devices(5, 7);
    assert_int_equal(rex_flight_enter(), REX_OK);
    assert_int_equal(rex_flight.numbers, 5);
    assert_int_equal(rex_flight.devices, 7);
    rex_flight_leave();
    rex_flight_devices(0, 0);
    assert_int_equal(rex_flight_enter(), REX_OK);
    assert_true(rex_flight.numbers == 0 && rex_flight.devices == 0);
    rex_flight_leave();
}
