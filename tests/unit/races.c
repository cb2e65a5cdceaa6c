/*
 * races.c - what threads may ask of a module while another ends it and registers it again, who waits for whom, and what a thread may do as it
 * ends. ThreadSanitizer sees what goes wrong here (make tsan K=unit/races); without it, the answers are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>
#include <time.h>

#include "base/error.h"
#include "base/process.h"
#include "omp/gate.h"
#include "plain.h"
#include "rex/inspect.h"
#include "rex/launch.h"
#include "rex_kmp.h"

/* No time passes where a test says so: rules.mk leads calls of nanosleep() here. */
static bool is_quick;

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
    return is_quick ? sched_yield() : __real_nanosleep(time, rest);
}

static int launch(void)
{
    struct rex_launch_config config = rex_launch_config_of(&plain_id, 1, 1);
    REX_MAP(args, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(2)));
    return rex_module_launch_map(&module, &config, &args);
}

static void start(int release)
{
    setenv("REX_LAUNCH_BY", "runtime", 1);
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

/* ---- questions ------------------------------------------------------------------------------------------------------------------------ */

static int stop;

static void *ask(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        rex_module_image_path(&module);
        rex_module_on_host(&module);
    }
    return unused;
}

TEST_IN_CHILD(registers_again)
{
    enum { THREADS = 3, ROUNDS = 40 };
    pthread_t threads[THREADS];
    const char *images[] = {FAKE("host.so"), "tests/data/sm_90.cubin"};
    start(16);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK_EQUAL(rex_module_fini(&module), REX_OK);
        CHECK_EQUAL(rex_module_register(&module, images[i % 2]), REX_OK);
        CHECK_EQUAL(rex_module_on_host(&module), i % 2 == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- who waits for others, and how long ------------------------------------------------------------------------------------------------ */

static pthread_barrier_t is_inside, may_leave;
static pthread_t inside;

static void stay(void)
{
    pthread_barrier_wait(&is_inside);
    pthread_barrier_wait(&may_leave);
    usleep(10000); /* in which the others come to where they wait */
}

static void *launch_and_stay(void *unused)
{
    CHECK_EQUAL(launch(), REX_OK);
    return unused;
}

static void start_inside(void)
{
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    the_record()->on_launch = stay;
    CHECK_EQUAL(pthread_create(&inside, NULL, launch_and_stay, NULL), 0);
    pthread_barrier_wait(&is_inside);
}

static void leave(void)
{
    pthread_barrier_wait(&may_leave);
    pthread_join(inside, NULL);
}

static char second_key;
static struct __tgt_offload_entry second_entries[] = {{&second_key, (char *)(uintptr_t)"none__kernel__", 0, 0, 0}};
static struct rex_module second = {.struct_size = sizeof(struct rex_module),
                                  .entries_begin = second_entries,
                                  .entries_end = second_entries + 1,
                                  .image_name = "tests/data/sm_90.cubin"};

/* Another thread stays inside: after a minute it is said, and nothing is left of the try. */
static void never_alone(const void *unused)
{
    (void)unused;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(rex_module_add(&second), REX_OK); /* which is not registered unasked */
    start(22);
    for (int is_end = 0; is_end < 2; is_end++) {
        int users = context_users();
        start_inside();
        is_quick = true;
        CHECK_EQUAL(is_end ? rex_module_fini(&second) : rex_module_register(&second, NULL), REX_EBUSY);
        is_quick = false;
        CHECK_MENTIONS(rex_last_error(), "tests/data/sm_90.cubin: launches or data calls of other threads have not ended within a minute, and a "
                                         "module can be registered or ended only between them");
        CHECK_EQUAL(context_users(), users);
        CHECK_EQUAL(the_record()->registered, 1 + is_end);
        leave();
        CHECK_EQUAL(is_end ? rex_module_fini(&second) : rex_module_register(&second, NULL), REX_OK);
        CHECK_EQUAL(the_record()->registered, 2 - is_end);
    }
}

TEST(test_never_alone)
{
    const char *output = in_child(never_alone, NULL);
    assert_int_equal(occurrences(output, " waits for launches and data calls of other threads\n"), 2);
}

/* The log's function launches while its thread waits for another one to leave: it is not waited for, and does not wait for itself. */
static int launched_by_log = -1;

static void launch_by_log(enum rex_log_level level, const char *message, void *unused)
{
    (void)level, (void)unused;
    if (strstr(message, " waits for launches and data calls of other threads") == NULL)
        return;
    the_record()->on_launch = NULL;
    launched_by_log = launch();
    leave();
}

TEST_IN_CHILD(launches_while_it_waits)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(rex_module_add(&second), REX_OK);
    start(22);
    rex_set_log_callback(launch_by_log, NULL);
    start_inside();
    is_quick = true;
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    CHECK_EQUAL(launched_by_log, REX_OK);
}

static void *end_module(void *unused)
{
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    return unused;
}

/* A thread that ends a module that another one is ending does not wait. A thread that registers it by a name waits. */
TEST_IN_CHILD(ends_beside)
{
    pthread_t other;
    start(22);
    uintptr_t registered = module.state;
    start_inside();
    CHECK_EQUAL(pthread_create(&other, NULL, end_module, NULL), 0);
    while (__atomic_load_n(&module.state, __ATOMIC_ACQUIRE) == registered)
        usleep(100);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
    pthread_barrier_wait(&may_leave);
    CHECK_EQUAL(rex_module_register(&module, module.image_name), REX_OK);
    pthread_join(inside, NULL);
    pthread_join(other, NULL);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 1);
    CHECK_EQUAL(the_record()->registered, 1);
}

/* ---- every call --------------------------------------------------------------------------------------------------------------------------- */

static char bytes[8];
static void *row[] = {bytes};
static int64_t sizes[] = {sizeof bytes}, types[] = {REX_MAP_TOFROM};
#define COLUMNS 1, row, row, sizes, types

static struct __tgt_kernel_arguments *packet(void)
{
    static void *literals[] = {bytes, bytes};
    static int64_t widths[] = {8, 8}, literal[] = {0x120, 0x120};
    static __thread struct __tgt_kernel_arguments args;
    args = (struct __tgt_kernel_arguments){.Version = 3, .NumArgs = 2, .ArgsBase = literals, .Args = literals, .ArgSizes = widths,
                                           .ArgTypes = literal, .Teams = {1, 1, 1}, .Threads = {1, 1, 1}};
    return &args;
}

#define DATA_P int64_t, int32_t, void **, void **, int64_t *, int64_t *
#define MAPPER_P void *, DATA_P, void **, void **
int exported_kernel(int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *) __asm__("rex___tgt_target_kernel");
void exported_begin(DATA_P) __asm__("rex___tgt_target_data_begin");
void exported_end(DATA_P) __asm__("rex___tgt_target_data_end");
void exported_update(DATA_P) __asm__("rex___tgt_target_data_update");
void raw_begin(MAPPER_P) __asm__("__tgt_target_data_begin_mapper");
void raw_end(MAPPER_P) __asm__("__tgt_target_data_end_mapper");
void raw_update(MAPPER_P) __asm__("__tgt_target_data_update_mapper");

/* Each returns 0 if it calls libomptarget, or the last error. */
#define WAY(name, call)                                                   \
    static int name(void)                                                 \
    {                                                                     \
        rex_fail_again(REX_OK, "");                                       \
        return (call, rex_last_error_code());                             \
    }
WAY(module_begin, rex_module_target_data(&module, REX_DATA_BEGIN, 0, COLUMNS))
WAY(module_end, rex_module_target_data(&module, REX_DATA_END, 0, COLUMNS))
WAY(module_update, rex_module_target_data(&module, REX_DATA_UPDATE, 0, COLUMNS))
WAY(module_kernel, rex_module_target_kernel(&module, 0, 1, 1, &plain_id, packet()))
WAY(wrapper_begin, exported_begin(0, COLUMNS))
WAY(wrapper_end, exported_end(0, COLUMNS))
WAY(wrapper_update, exported_update(0, COLUMNS))
WAY(wrapper_kernel, exported_kernel(0, 1, 1, &plain_id, packet()))
WAY(program_begin, __rex_real___tgt_target_data_begin(0, COLUMNS))
WAY(program_end, __rex_real___tgt_target_data_end(0, COLUMNS))
WAY(program_update, __rex_real___tgt_target_data_update(0, COLUMNS))
WAY(program_begin_mapper, raw_begin(NULL, 0, COLUMNS, NULL, NULL))
WAY(program_end_mapper, raw_end(NULL, 0, COLUMNS, NULL, NULL))
WAY(program_update_mapper, raw_update(NULL, 0, COLUMNS, NULL, NULL))
WAY(program_kernel, __rex_real___tgt_target_kernel(NULL, 0, 1, 1, &plain_id, packet()))

static int (*const ways[])(void) = {module_begin,  module_end,         module_update,        module_kernel,      wrapper_begin,
                                    wrapper_end,   wrapper_update,     wrapper_kernel,       program_begin,      program_end,
                                    program_update, program_begin_mapper, program_end_mapper, program_update_mapper, program_kernel};

static void stay_in_data(enum fake_function unused)
{
    (void)unused;
    the_record()->on_data = NULL;
    stay();
}

static void stay_in_launch(void)
{
    the_record()->on_launch = NULL;
    stay();
}

static void *go(void *way)
{
    CHECK_EQUAL((*(int (*const *)(void))way)(), REX_OK);
    return NULL;
}

static uint32_t calls(void)
{
    const uint32_t *counts = the_record()->counts;
    return counts[FAKE_BEGIN] + counts[FAKE_END] + counts[FAKE_UPDATE] + counts[FAKE_KERNEL];
}

/* A registration waits for each call, and each call waits for a registration. A child of a fork beside a call makes none. */
TEST_FOR_EACH(is_counted, way, ways)
{
    pthread_t beside;
    start(22);
    rex_configure(REX_OPTION_LOG, "off");
    pthread_barrier_init(&is_inside, NULL, 2);
    pthread_barrier_init(&may_leave, NULL, 2);
    the_record()->on_data = stay_in_data;
    the_record()->on_launch = stay_in_launch;
    CHECK_EQUAL(pthread_create(&inside, NULL, go, (void *)(uintptr_t)way), 0);
    pthread_barrier_wait(&is_inside);
    is_quick = true;
    CHECK_EQUAL(rex_gate_register("it", false), REX_EBUSY);
    is_quick = false;
    uint32_t before = calls();
    CHECK_IN_FORK((*way)() == REX_EFORK && calls() == before);
    leave();
    the_record()->on_data = NULL;
    the_record()->on_launch = NULL;
    CHECK_EQUAL(rex_gate_register("it", false), REX_OK);
    CHECK_EQUAL(pthread_create(&beside, NULL, go, (void *)(uintptr_t)way), 0);
    usleep(20000);
    CHECK_EQUAL(calls(), before);
    rex_gate_registered();
    pthread_join(beside, NULL);
    CHECK_EQUAL(calls(), before + 1);
}

static uint32_t depth;

static void look(enum fake_function unused)
{
    (void)unused;
    depth = rex_thread.calls->inside;
}

/* libomptarget tells an OMPT tool the address of its caller: the program's calls are jumps to it. */
TEST_OF_EACH(has_tool, int, is_tool, 0, 1)
{
    if (is_tool)
        setenv("OMP_TOOL_LIBRARIES", "/nowhere/tool.so", 1);
    start(22);
    the_record()->on_data = look;
    depth = 9;
    program_update();
    CHECK_EQUAL(depth, !is_tool);
    /* An end is no jump. */
    program_end();
    CHECK(depth >= 1);
}

/* ---- the end of a thread --------------------------------------------------------------------------------------------------------------- */

/*
 * The destructors of a thread run in four rounds, of which the last one takes it off librex's list for good. ThreadSanitizer ends the thread
 * in that round, and what it instruments cannot run any more: the thread then launches in the first two alone.
 */
#ifdef __SANITIZE_THREAD__
enum { ENTRIES = 2 };
#else
enum { ENTRIES = 4 };
#endif
static pthread_key_t key;
static int launched[8];
static size_t rounds;

static void launch_again(void *value)
{
    CHECK_EQUAL(rex_thread.calls->inside, 0);
    launched[rounds] = launch();
    CHECK(launched[rounds] == REX_OK || strcmp(rex_last_error(), "the thread is ending: use librex before the thread's last destructors run") == 0);
    if (++rounds < ENTRIES || ENTRIES == 4)
        CHECK_EQUAL(pthread_setspecific(key, value), 0);
}

static void *end_thread(void *unused)
{
    CHECK_EQUAL(launch(), REX_OK);
    CHECK_IN_FORK(rex_thread.listed->next == NULL); /* it has this thread alone */
    CHECK_EQUAL(pthread_setspecific(key, &key), 0);
    return unused;
}

/* It begins beside a registration, and a fork does not let it in. */
TEST_IN_CHILD(last_destructors)
{
    pthread_t thread;
    start(22);
    CHECK_EQUAL(pthread_key_create(&key, launch_again), 0);
    CHECK_EQUAL(rex_gate_register("alone", false), REX_OK);
    if (fork() == 0)
        _exit(0);
    CHECK_EQUAL(pthread_create(&thread, NULL, end_thread, NULL), 0);
    usleep(20000);
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL], 0);
    rex_gate_registered();
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(rounds, ENTRIES);
    CHECK(launched[0] == REX_OK && launched[1] == REX_OK);
    CHECK(ENTRIES == 2 || (launched[2] == REX_OK && launched[3] == REX_EINVAL));
    CHECK_EQUAL(rex_module_fini(&module), REX_OK); /* no thread that has ended is on the list */
}

#ifndef __SANITIZE_THREAD__
static void launch_in_last_round(void *value)
{
    if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        CHECK_EQUAL(pthread_setspecific(key, value), 0);
    else
        launched[0] = launch();
}

static void *begin_late(void *unused)
{
    CHECK_EQUAL(pthread_setspecific(key, &key), 0);
    return unused;
}

static void *launch_at_once(void *unused)
{
    CHECK_EQUAL(launch(), REX_OK);
    return unused;
}

/* Threads whose first launch is in their last destructors stay in the list: it ends all the same, for threads with the same memory, too. */
TEST_IN_CHILD(begins_in_last_destructors)
{
    pthread_t thread;
    start(22);
    CHECK_EQUAL(pthread_key_create(&key, launch_in_last_round), 0);
    for (int i = 0; i < 2; i++) {
        rounds = 0;
        launched[0] = REX_EINVAL;
        CHECK_EQUAL(pthread_create(&thread, NULL, begin_late, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_EQUAL(launched[0], REX_OK);
        CHECK_EQUAL(pthread_create(&thread, NULL, launch_at_once, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
    }
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}
#endif

static void end_here(void)
{
    the_record()->on_launch = NULL;
    pthread_exit(NULL);
}

static void *launch_and_end(void *unused)
{
    end_thread(unused);
    the_record()->on_launch = end_here;
    launch();
    return unused;
}

/* A thread that ends inside of a launch is not waited for, and its destructors are outside. */
TEST_IN_CHILD(ends_inside)
{
    pthread_t thread;
    start(22);
    CHECK_EQUAL(pthread_key_create(&key, launch_again), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, launch_and_end, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    is_quick = true;
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

TEST(test_ends)
{
    if (ENTRIES == 2)
        print_message("left out: the last two rounds of a thread's destructors: ThreadSanitizer ends the thread itself in the last\n");
}
