/*
 * What one thread does while others are inside libomptarget: it forks, registers another module and
 * ends it, and does so from inside a launch. Nothing hangs, nothing crashes, and each launch is
 * right or refused. What it maps, updates and ends beside a kernel is in runtime/present.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>

#include "runtime/runtime.h"

REX_KERNEL(square);
REX_KERNEL(call);

enum { THREADS = 4, SECONDS = 20 };

/* ---- another module, with a key of its own for a kernel of the same image -------------------- */

static char other_key;
static char name_of_square[] = "square__kernel__";
static struct __tgt_offload_entry other_entries[] = {{&other_key, name_of_square, 0, 0, 0}};
static struct rex_module other = {
    .struct_size = sizeof other, .entries_begin = other_entries, .entries_end = other_entries + 1};

static void find_image(void)
{
    static struct path image;
    image = default_image();
    other.image_name = image.text;
}

/* LLVM 18 registers it with the first one. */
static void start_both(void)
{
    find_image();
    assert_int_equal(rex_module_add(&other), 0);
    assert_int_equal(rex_offload_init(), 0);
    if (loads_late())
        assert_int_equal(rex_module_init(&other), 0);
}

/* ---- launches -------------------------------------------------------------------------------- */

typedef int launcher(struct rex_module *module, int64_t device, int32_t teams, int32_t threads,
                     void *key, struct __tgt_kernel_arguments *packet);

/* 0 if the result is right, else what the launch returned, or 1. */
static int launch_by(launcher *function, struct rex_module *module, void *key, int64_t value)
{
    int64_t result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    int returned = function(module, -1, 1, 1, key, &packet);
    return returned != 0 ? returned : result != value * value;
}

static int launch(struct rex_module *module, void *key, int64_t value)
{
    return launch_by(rex_module_launch, module, key, value);
}

static int launch_own(int64_t value)
{
    return launch(&rex_this_module, REX_KERNEL_ID(square), value);
}

/* By a description and a map, whose memory is mapped. */
static int launch_mapped(int64_t *results, int64_t value)
{
    REX_MAP(map, REX_VALUE(value), REX_TOFROM(results, 1));
    return rex_launch(
        &(struct rex_launch_config){REX_KERNEL_ID(square), -1, NULL, {1, 1, 1}, {1, 1, 1}, 0, 0, 0, {0}, {0}},
        &map);
}

/* By each wrapper and function of libomptarget that maps; true if an update has brought the value. */
static bool map_by_hand(int64_t value)
{
    int64_t cell = value;
    REX_MAP(to, REX_TO(&cell, 1));
    REX_MAP(from, REX_FROM(&cell, 1));
    __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(to));
    __rex_real___tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(to));
    cell = -1;
    __tgt_target_data_update(-1, REX_MAP_ARGUMENTS(from));
    bool is_right = cell == value;
    cell = -2;
    __rex_real___tgt_target_data_update(-1, REX_MAP_ARGUMENTS(from));
    is_right &= cell == value;
    __rex_real___tgt_target_data_end(-1, REX_MAP_ARGUMENTS(to));
    __tgt_target_data_end(-1, REX_MAP_ARGUMENTS(to));
    return is_right;
}

/* Calls FUNCTION in a kernel. */
static int call_in_kernel(void (*function)(void))
{
    REX_MAP(map, REX_VALUE(function));
    return rex_launch(
        &(struct rex_launch_config){REX_KERNEL_ID(call), -1, NULL, {1, 1, 1}, {1, 1, 1}, 0, 0, 0, {0}, {0}},
        &map);
}

static int stop, failed;
static long launched;

static void *work(void *number)
{
    int64_t value = (int64_t)(intptr_t)number, result = 0;
    REX_MAP(region, REX_TOFROM(&result, 1));
    if (rex_data_enter(-1, &region) != 0)
        failed = 1;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        if (launch_own(++value) != 0 || launch_mapped(&result, value) != 0 || !map_by_hand(value) ||
            !rex_target_is_present(&result, 8, -1))
            __atomic_store_n(&failed, 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(&launched, 1, __ATOMIC_RELAXED);
    }
    if (rex_data_exit(-1, &region) != 0)
        failed = 1;
    return NULL;
}

static pthread_t threads[THREADS];

static void start_threads(void *(*run)(void *number))
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)(intptr_t)(1000 * i)), 0);
    while (__atomic_load_n(&launched, __ATOMIC_RELAXED) < 10 * THREADS)
        usleep(100);
}

static void end_threads(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failed, 0);
}

/* ---- fork ------------------------------------------------------------------------------------ */

enum { WORKS, REFUSED, WRONG };

/* In a child: everything works, or everything is refused. */
static int use_in_child(void)
{
    int64_t result = 0;
    int64_t value = 7;
    int returned = launch_own(value);
    bool refused = returned != 0 && rex_last_error_code() == REX_EFORK;
    if (returned != 0 && !refused)
        return WRONG;
    int expected = refused ? REX_EFORK : 0;
    REX_MAP(region, REX_TOFROM(&result, 1));
    if (rex_data_enter(-1, &region) != expected ||
        rex_target_is_present(&result, 8, -1) == refused ||
        launch_mapped(&result, value) != expected || rex_data_exit(-1, &region) != expected ||
        launch_by(rex_module_target_kernel, &other, &other_key, 5) != expected ||
        rex_offload_init() != expected || rex_module_register(&other, NULL) != expected)
        return WRONG;
    if (refused && (rex_device_alloc(8, 0) != NULL || rex_last_error_code() != REX_EFORK))
        return WRONG;
    if (rex_offload_fini() != 0 || rex_module_fini(&other) != 0)
        return WRONG;
    return refused ? REFUSED : WORKS;
}

static int outcome_of_child(int (*use)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        _exit(use());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("the child ended with wait status %#x%s", (unsigned)status,
                 WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    return WEXITSTATUS(status);
}

/*
 * gcc's libasan has its allocator ready for a fork beside threads from 14 on. Before that a child
 * may wait for ever for a lock that another thread held: in fork() itself, where libomp allocates.
 */
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__) && __GNUC__ < 14
#define ALLOCATES_IN_CHILD 0
#else
#define ALLOCATES_IN_CHILD 1
#endif

TEST(fork_beside_launches, .gpu = ON_HOST_DEVICE)
{
    int outcomes[3] = {0};
    if (!ALLOCATES_IN_CHILD)
        leave_out(
            "the AddressSanitizer of gcc %d is not ready for a fork while other threads allocate",
            __GNUC__);
    start_both();
    start_threads(work);
    for (int i = 0; i < rounds_of(200); i++) {
        int outcome = outcome_of_child(use_in_child);
        assert_in_range(outcome, WORKS, REFUSED);
        outcomes[outcome]++;
    }
    end_threads();
    printf("%d children worked, %d were refused\n", outcomes[WORKS], outcomes[REFUSED]);
    assert_int_equal(launch_own(3), 0);
}

/*
 * One thread stays in a kernel: whenever the process forks, it is inside libomptarget, and
 * allocates nothing. Later it has launched and does not now, which is no reason to refuse anything.
 */
static int in_kernel, leaves_kernel, idle;

static void stay_in_kernel(void)
{
    __atomic_store_n(&in_kernel, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&leaves_kernel, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void *launch_and_stay(void *result)
{
    *(int *)result = call_in_kernel(stay_in_kernel);
    __atomic_store_n(&idle, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        usleep(1000);
    return NULL;
}

TEST(fork_beside_a_kernel, .gpu = ON_HOST_DEVICE)
{
    pthread_t thread;
    int result = -1;
    start_both();
    assert_int_equal(pthread_create(&thread, NULL, launch_and_stay, &result), 0);
    while (!__atomic_load_n(&in_kernel, __ATOMIC_ACQUIRE))
        usleep(1000);
    for (int i = 0; i < rounds_of(20); i++)
        assert_int_equal(outcome_of_child(use_in_child), REFUSED);
    __atomic_store_n(&leaves_kernel, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&idle, __ATOMIC_ACQUIRE))
        usleep(1000);
    assert_int_equal(result, 0);
    for (int i = 0; i < rounds_of(20); i++)
        assert_int_equal(outcome_of_child(use_in_child), WORKS);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

/* One thread is about to end a registration for the CPU when the process forks. */
static int is_registered, has_forked;

static void stay_registering(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strncmp(message, "registered device image", 23) != 0)
        return;
    __atomic_store_n(&is_registered, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&has_forked, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void *register_own(void *result)
{
    *(int *)result = rex_offload_init();
    return NULL;
}

static int register_in_child(void)
{
    bool refused = rex_offload_init() == REX_EFORK &&
                   strstr(rex_last_error(), "or while the parent registered or ended the module:") != NULL;
    fprintf(stderr, "%s\n", rex_last_error());
    return refused ? REFUSED : WRONG;
}

TEST(fork_beside_a_registration, .gpu = ON_HOST_DEVICE)
{
    pthread_t thread;
    int result = -1;
    setenv("REX_LOG", "info", 1);
    rex_set_log_callback(stay_registering, NULL);
    assert_int_equal(pthread_create(&thread, NULL, register_own, &result), 0);
    while (!__atomic_load_n(&is_registered, __ATOMIC_ACQUIRE))
        usleep(1000);
    assert_int_equal(outcome_of_child(register_in_child), REFUSED);
    __atomic_store_n(&has_forked, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
}

/* ---- from inside a launch -------------------------------------------------------------------- */

static int result_inside;

static int launch_and_leave(void)
{
    return launch_own(9) == 0 ? WORKS : WRONG;
}

static void fork_here(void)
{
    result_inside = outcome_of_child(launch_and_leave);
}

TEST(fork_inside_a_launch, .gpu = ON_HOST_DEVICE)
{
    assert_int_equal(rex_offload_init(), 0);
    for (int i = 0; i < 3; i++) {
        result_inside = -1;
        assert_int_equal(call_in_kernel(fork_here), 0);
        assert_int_equal(result_inside, WORKS);
    }
}

static void launch_here(void)
{
    result_inside = launch_own(11);
}

static void register_here(void)
{
    result_inside = rex_module_register(&other, NULL);
}

static void end_here(void)
{
    result_inside = rex_module_fini(&other);
}

TEST(register_inside_a_launch, .gpu = ON_HOST_DEVICE)
{
    find_image();
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(call_in_kernel(launch_here), 0);
    assert_int_equal(result_inside, 0);
    assert_int_equal(call_in_kernel(register_here), 0);
    assert_int_equal(result_inside, REX_EBUSY);
    if (!loads_late())
        leave_out(
            "registering inside a launch: LLVM 18 loads no image after the first use of a device");
    assert_int_equal(rex_module_init(&other), 0);
    assert_int_equal(call_in_kernel(register_here), 0);
    assert_int_equal(result_inside, 0); /* it is */
    assert_int_equal(call_in_kernel(end_here), 0);
    assert_int_equal(result_inside, REX_EBUSY);
    assert_int_equal(launch(&other, &other_key, 5), 0);
    assert_int_equal(rex_module_fini(&other), 0);
}

/* A kernel waits for another thread's launch, while a third one waits to register: nobody waits for
 * ever. */
static int waiting, nested;

static void *launch_for_kernel(void *unused)
{
    nested = launch_own(13);
    return unused;
}

static void launch_in_thread(void)
{
    pthread_t thread;
    __atomic_store_n(&in_kernel, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
        usleep(100);
    usleep(100000); /* by now it has looked a few times */
    pthread_create(&thread, NULL, launch_for_kernel, NULL);
    pthread_join(thread, NULL);
}

static void *register_other(void *result)
{
    while (!__atomic_load_n(&in_kernel, __ATOMIC_ACQUIRE))
        usleep(100);
    __atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
    *(int *)result = rex_module_init(&other);
    return NULL;
}

TEST(register_beside_a_kernel_that_waits, .gpu = ON_HOST_DEVICE)
{
    pthread_t thread;
    int result = -1;
    find_image();
    assert_int_equal(rex_offload_init(), 0);
    nested = -1;
    assert_int_equal(pthread_create(&thread, NULL, register_other, &result), 0);
    assert_int_equal(call_in_kernel(launch_in_thread), 0);
    pthread_join(thread, NULL);
    assert_int_equal(nested, 0);
    assert_int_equal(result, loads_late() ? 0 : REX_EUNSUPPORTED);
}

/* ---- registration beside launches ------------------------------------------------------------ */

TEST(register_beside_launches)
{
    find_image();
    assert_int_equal(rex_offload_init(), 0);
    if (!loads_late())
        return;
    start_threads(work);
    for (int i = 1; i <= registrations_of(100); i++) {
        if (i % 2 == 0)
            assert_int_equal(rex_module_init(&other), 0);
        assert_int_equal(launch(&other, &other_key, i), 0);
        assert_int_equal(rex_module_fini(&other), 0);
        if (i % 20 == 0)
            remove_temporary_images();
    }
    end_threads();
}

/* ---- the end of the module beside launches --------------------------------------------------- */

/* A launch or a region may register the module again. */
static void *launch_and_map(void *number)
{
    int64_t value = (int64_t)(intptr_t)number, mapped = 0;
    REX_MAP(region, REX_TOFROM(&mapped, 1));
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        if (launch_own(++value) != 0 || rex_data_enter(-1, &region) != 0 || rex_data_exit(-1, &region) != 0)
            __atomic_store_n(&failed, 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(&launched, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

TEST(end_beside_launches)
{
    find_image();
    start_threads(launch_and_map);
    for (int i = 1; i <= registrations_of(60); i++) {
        assert_int_equal(rex_offload_fini(), 0);
        if (i % 2 == 0)
            assert_int_equal(rex_offload_init(), 0);
        if (i % 20 == 0)
            remove_temporary_images();
    }
    end_threads();
}
