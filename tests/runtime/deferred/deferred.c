/*
 * Deferred launches (REX_LAUNCH_BLOCKING=0): what is deferred, how many, in which order, addresses
 * that are given out, ends beside launches, forks. Who waits: waits.c. Exits and errors: ends.c.
 *
 * A held kernel decides, and no clock: a call that must not wait would hang.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "deferred.h"

#include <rex/interop.h>

REX_KERNEL(hold);
REX_KERNEL(add);
REX_KERNEL(triple);
REX_KERNEL(set);

void *omp_get_mapped_ptr(const void *host, int device);

static int add_to_y(void)
{
    return LAUNCH(add, REX_VALUE(INT64_C(1)), REX_ALLOC(y, 1));
}

static int end_y(void)
{
    return map_array(rex_data_exit, y, FROM);
}

/* ---- which launches -------------------------------------------------------------------------- */

static int add_by_wrapper(void)
{
    int64_t one;
    struct rows rows;
    struct __tgt_kernel_arguments packet = packet_of_add(&rows, &one);
    return __tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(add), &packet);
}

/* On memory that is mapped, in whole or in part, and of rex_device_alloc(). */
TEST(launches_return, .gpu = ON_GPU)
{
    start();
    int64_t *memory = rex_device_alloc(sizeof x, -1), back = 5;
    OK(rex_device_copy_to(memory + 1, &back, sizeof back, -1));
    prepare();
    OK(hold_x());
    OK(add_to_y());
    OK(add_by_wrapper());
    OK(LAUNCH(add, REX_VALUE(INT64_C(1)), REX_TOFROM(y + 1, 2)));
    OK(LAUNCH(add, REX_VALUE(INT64_C(1)), REX_IS_DEVICE_PTR(memory + 1)));
    OK(LAUNCH(hold, REX_VALUE((int64_t)(intptr_t)word), REX_IS_DEVICE_PTR(memory)));
    assert_int_equal(x[0] + y[0] + y[1], 0);
    release();
    OK(rex_device_copy_from(&back, memory + 1, sizeof back, -1));
    assert_int_equal(back, 6);
    OK(map_array(rex_data_exit, x, TOFROM));
    OK(end_y());
    assert_int_equal(x[0], 1);
    assert_int_equal(y[0], 2);
    assert_int_equal(y[1], 1);
}

/* ---- how many -------------------------------------------------------------------------------- */

enum { PENDING_MOST = 256, LAUNCHES = 300 };
static int launched;

static int launch_many(void)
{
    for (int i = 0; i < LAUNCHES; i++) {
        int result = add_to_y();
        if (result != REX_OK)
            return result;
        __atomic_fetch_add(&launched, 1, __ATOMIC_SEQ_CST);
    }
    return REX_OK;
}

TEST(a_full_stream_waits, .gpu = ON_GPU)
{
    struct call call;
    start();
    prepare();
    OK(hold_x());
    start_call(&call, launch_many);
    while (__atomic_load_n(&launched, __ATOMIC_SEQ_CST) < PENDING_MOST - 1)
        sched_yield();
    still_waits(&call, "launch 257");
    assert_int_equal(__atomic_load_n(&launched, __ATOMIC_SEQ_CST), PENDING_MOST - 1);
    release();
    OK(result_of(&call));
    OK(end_y());
    assert_int_equal(y[0], LAUNCHES);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The end waits for the kernel that is held, and then for the launch that has come meanwhile. */
TEST(an_end_sees_later_launches, .gpu = ON_GPU)
{
    struct call end, later;
    start();
    prepare();
    OK(hold_x());
    start_call(&end, end_y);
    still_waits(&end, "the end");
    start_call(&later, add_to_y);
    still_waits(&end, "the end");
    release();
    OK(result_of(&later));
    OK(result_of(&end));
    assert_int_equal(y[0], 1);
}

static int over; /* a pipe that the driver writes to when a thread begins to wait */

static int end_y_and_tell(void)
{
    int result = end_y();
    return write(over, "e", 1) == 1 ? result : -1;
}

/*
 * Whenever the end begins to wait for a launch, another one comes before the wait is over. So each
 * look of the end finds a new one, unless the end keeps launches waiting.
 */
TEST(an_end_does_not_starve, .gpu = ON_GPU)
{
    enum { MOST = 50 };
    struct call end;
    int told[2], until[2], last = -1, launches = 1;
    char value[64], byte = 0;
    if (gpu_is_real())
        leave_out("a wait that stays in the driver");
    start();
    OK(add_to_y());
    assert_int_equal(pipe(told), 0);
    over = told[1];
    for (;; launches++) {
        assert_int_equal(pipe(until), 0);
        snprintf(value, sizeof value, "cuEventSynchronize:%d:%d", told[1], until[0]);
        setenv("FAKE_CUDA_SLOW", value, 1);
        if (last < 0)
            start_call(&end, end_y_and_tell);
        else
            close(last);
        last = until[1];
        assert_int_equal(read(told[0], &byte, 1), 1);
        if (byte == 'e')
            break;
        if (launches > MOST)
            fail_msg("the end has waited for %d launches, and goes on waiting", MOST);
        OK(add_to_y());
    }
    unsetenv("FAKE_CUDA_SLOW");
    OK(result_of(&end));
    assert_int_equal(y[0], launches);
}

static bool stop;

static void *launch_beside(void *number)
{
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        if (LAUNCH(add, REX_VALUE(INT64_C(1)), REX_TOFROM(y, CELLS)) != REX_OK)
            return number;
        __atomic_fetch_add(&launched, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* Mapped or not, each launch has added 1 in the end. */
TEST(ends_beside_launches, .gpu = ON_GPU)
{
    pthread_t thread;
    void *failed;
    start();
    assert_int_equal(pthread_create(&thread, NULL, launch_beside, &stop), 0);
    for (int i = 0; i < rounds_of(2000); i++) {
        OK(map_array(rex_data_exit, y, TOFROM));
        OK(map_array(rex_data_enter, y, TOFROM));
    }
    __atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    OK(end_y());
    assert_int_equal(y[0], launched);
}

/* ---- addresses that are given out ------------------------------------------------------------ */

static int by_mapped_ptr(void)
{
    return rex_mapped_ptr(y, -1) != NULL ? REX_OK : -1;
}

static int by_omp(void)
{
    return omp_get_mapped_ptr(y, 0) != NULL ? REX_OK : -1;
}

/* What flang 24 emits. */
void *__tgt_get_mapped_ptr(int64_t device, const void *host);
static int by_call_of_flang(void)
{
    return __tgt_get_mapped_ptr(0, y) != y ? REX_OK : -1;
}

/* The mapping is counted once more, and no less. */
static int by_use_device_ptr(void)
{
    REX_MAP(map, REX_USE_DEVICE_PTR(y));
    int result = rex_data_enter(-1, &map);
    return result == REX_OK && rex_map_address(&map, 0) == NULL ? -1 : result;
}

static int by_return(void)
{
    REX_MAP(map, REX_RETURN(REX_TOFROM(y, CELLS)));
    int result = rex_data_enter(-1, &map);
    if (result != REX_OK || rex_map_address(&map, 0) == NULL)
        return -1;
    return rex_data_exit(-1, &map);
}

static int hold_y(void)
{
    return hold_on(y);
}

static void end_all_of_y(void)
{
    while (rex_target_is_present(y, sizeof y, -1))
        OK(end_y());
}

/* Launches on that memory, and no others, are waited for until its mapping ends. */
static void give_address(const char *name, int (*gives)(void))
{
    start();
    for (int i = 0; i < 2; i++) {
        prepare();
        OK(hold_y());
        expect_wait(name, gives);
        prepare();
        expect_wait("hold", hold_y);
        prepare();
        OK(hold_x());
        release();
        end_all_of_y();
        assert_int_equal(y[0], 2 * (i + 1));
        OK(map_array(rex_data_enter, y, TOFROM));
    }
}

#define GIVES(name, releases)                             \
    TEST(name##_given, .gpu = ON_GPU, .on = (releases)) \
    {                                              \
        give_address(#name, name);                 \
    }
GIVES(by_mapped_ptr, NULL)
GIVES(by_omp, NULL)
GIVES(by_use_device_ptr, NULL)
GIVES(by_return, NULL)
GIVES(by_call_of_flang, "24")

/* The call is in cuLaunchKernel() of the fake driver, until what is returned is closed. */
static int start_slowly(struct call *call, int (*what)(void))
{
    char value[64], byte;
    int inside[2], until[2];
    assert_true(pipe(inside) == 0 && pipe(until) == 0);
    snprintf(value, sizeof value, "cuLaunchKernel:%d:%d", inside[1], until[0]);
    setenv("FAKE_CUDA_SLOW", value, 1);
    start_call(call, what);
    assert_int_equal(read(inside[0], &byte, 1), 1);
    return until[1];
}

/* The address is given out while the launch is on its way to the driver. */
TEST(given_beside_a_launch, .gpu = ON_GPU)
{
    struct call call;
    if (gpu_is_real())
        leave_out("a launch that stays in the driver");
    start();
    OK(add_to_y());
    OK(rex_device_sync(-1));
    prepare();
    int until = start_slowly(&call, hold_y);
    OK(by_mapped_ptr());
    close(until);
    still_waits(&call, "hold");
    release();
    OK(result_of(&call));
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* On the device: the host does not wait. */
TEST(queues_follow, .gpu = ON_GPU)
{
    int64_t value = 1;
    struct rex_queue *queue;
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(triple), 1, 1);
    start();
    int64_t *memory = rex_device_alloc(sizeof value, -1);
    REX_MAP(map, REX_IS_DEVICE_PTR(memory));
    OK(rex_queue_create(&queue, -1, NULL, 0));
    OK(rex_device_copy_to(memory, &value, sizeof value, -1));
    prepare();
    OK(LAUNCH(hold, REX_VALUE((int64_t)(intptr_t)word), REX_IS_DEVICE_PTR(memory)));
    OK(launch_in(queue, &config, &map));
    assert_int_equal(rex_queue_query(queue), 0);
    release();
    OK(rex_queue_sync(queue));
    OK(rex_device_copy_from(&value, memory, sizeof value, -1));
    assert_int_equal(value, 6);
    OK(rex_queue_destroy(queue));
}

static int launch_on_device(int64_t device, const void *key, const struct rex_map *map)
{
    struct rex_launch_config config = rex_launch_config_of(key, 1, 1);
    config.device = device;
    return rex_launch(&config, map);
}

/* A copy from the other device follows the launches of both. */
TEST(peer_copies_follow, .gpu = ON_GPU)
{
    int64_t *memory[2], value = 5;
    struct rex_queue *queue;
    start();
    if (rex_device_count() < 2)
        leave_out("a second device");
    OK(rex_queue_create(&queue, 0, NULL, 0));
    prepare();
    for (int i = 0; i < 2; i++) {
        memory[i] = rex_device_alloc(sizeof value, i);
        OK(rex_device_copy_to(memory[i], &value, sizeof value, i));
    }
    for (int i = 0; i < 2; i++) {
        REX_MAP(map, REX_VALUE((int64_t)(intptr_t)word), REX_IS_DEVICE_PTR(memory[i]));
        OK(launch_on_device(i, REX_KERNEL_ID(hold), &map));
    }
    REX_MAP(more, REX_VALUE(INT64_C(10)), REX_IS_DEVICE_PTR(memory[0]));
    OK(launch_on_device(0, REX_KERNEL_ID(add), &more));
    OK(rex_queue_copy_peer(queue, memory[0], 0, memory[1], 1, sizeof value));
    release();
    OK(rex_queue_sync(queue));
    OK(rex_device_copy_from(&value, memory[0], sizeof value, 0));
    assert_int_equal(value, 6);
    OK(rex_queue_destroy(queue));
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* The fake driver's calls so far; 0: it is a real one. */
static int calls_of_driver(bool is_real)
{
    int (*calls)(const char *name);
    if (is_real)
        return 0;
    find(driver(), "fake_cuda_calls", &calls);
    return calls(NULL);
}

/* The child has no device, and so no kernel to wait for. */
TEST(fork_waits_for_nothing, .gpu = ON_GPU)
{
    int status = -1;
    bool is_real = gpu_is_real(); /* a child cannot tell */
    start();
    prepare();
    OK(hold_x());
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int calls = calls_of_driver(is_real);
        bool is_right =
            rex_configure(REX_OPTION_LAUNCH_BLOCKING, "on") == REX_OK && add_to_y() == REX_EFORK;
        _exit(is_right && calls_of_driver(is_real) == calls ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    OK(add_to_y());
    release();
    OK(map_array(rex_data_exit, x, FROM));
    OK(end_y());
    assert_int_equal(x[0], 1);
    assert_int_equal(y[0], 1);
}
