/*
 * A call that waits for work of a queue keeps no other thread from its own work: no lock of librex is held meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "steps.h"

enum { LARGE = 5 << 20, RING = 1100 };

static int64_t x[VALUES], y[VALUES];
static unsigned char large[LARGE], other_large[LARGE], *memory, *other_memory;
static struct rex_queue *queue; /* its kernel works on x, until it is released */
static struct rex_event *event; /* recorded behind that */

/* ---- calls that wait for the kernel ---------------------------------------------------------- */

static int end_region(void)
{
    int64_t *px = x;
    REX_MAP(region, REX_TOFROM(px, VALUES));
    return rex_data_exit(-1, &region);
}

static int end_region_raw(void)
{
    void *base[] = {x};
    int64_t sizes[] = {sizeof x}, types[] = {TOFROM};
    __tgt_target_data_end(-1, 1, base, base, sizes, types);
    return REX_OK;
}

static int free_memory(void)
{
    rex_device_free(rex_device_alloc(8, -1), -1);
    return REX_OK;
}

static int copy_little(void)
{
    return rex_queue_copy_from(queue, large, memory, 8);
}

static int copy_from(void)
{
    return rex_queue_copy_from(queue, large, memory, LARGE);
}

static int copy_to(void)
{
    return rex_queue_copy_to(queue, memory, large, LARGE);
}

static int update(void)
{
    int64_t *px = x;
    REX_MAP(rows, REX_FROM(px, VALUES));
    return rex_queue_update(queue, &rows);
}

static int sync_queue(void)
{
    return rex_queue_sync(queue);
}

static int sync_event(void)
{
    return rex_event_sync(event);
}

/* With a trace: each command is written down, and the last ones wait until the first are done. */
static int put_many(void)
{
    int result = REX_OK;
    for (int i = 0; i < RING && result == REX_OK; i++)
        result = rex_queue_fill(queue, memory, "", 1, 8);
    return result;
}

static int destroy(void)
{
    return rex_queue_destroy(queue);
}

static int end_module(void)
{
    return rex_offload_fini();
}

typedef int (*way_to_wait)(void);
static const way_to_wait ways[] = {end_region, end_region_raw, free_memory, sync_queue, sync_event,
                                   put_many,   destroy,        end_module,  NULL};
static const way_to_wait copies[] = {copy_little, copy_from, copy_to, update, NULL};

/* ---- meanwhile ------------------------------------------------------------------------------- */

static bool has_begun, has_ended;

static void *wait_for_kernel(void *way)
{
    __atomic_store_n(&has_begun, true, __ATOMIC_SEQ_CST);
    int result = (*(const way_to_wait *)way)();
    if (result != REX_OK)
        print_error("a wait: %d, %s\n", result, rex_last_error());
    __atomic_store_n(&has_ended, true, __ATOMIC_SEQ_CST);
    return result == REX_OK ? NULL : way;
}

/* What needs nothing of the kernel; with a queue, also questions to it. */
static void work_beside(bool asks)
{
    int64_t *py = y;
    struct rex_queue *other = new_queue("other", 0);
    REX_MAP(region, REX_TOFROM(py, VALUES));
    OK(rex_data_enter(-1, &region));
    OK(put_follow(NULL, y, VALUES, 1));
    OK(put_follow(other, y, VALUES, 1));
    OK(rex_queue_copy_to(other, other_memory, other_large, LARGE));
    OK(rex_queue_sync(other));
    if (asks)
        assert_int_equal(rex_queue_query(queue), 0);
    OK(rex_data_exit(-1, &region));
    OK(rex_queue_destroy(other));
}

static void hold_and_wait(const way_to_wait *way)
{
    int64_t *px = x;
    pthread_t thread;
    void *failed;
    REX_MAP(region, REX_TOFROM(px, VALUES));
    OK(rex_offload_init());
    queue = new_queue("held", 0);
    memory = rex_device_alloc(LARGE, -1);
    other_memory = rex_device_alloc(LARGE, -1);
    OK(rex_event_create(&event));
    OK(rex_data_enter(-1, &region));
    work_beside(false); /* makes what the driver would end only when all its work is done */
    int64_t *release = hold_queue(queue, x);
    OK(rex_event_record(event, queue));
    __atomic_store_n(&has_begun, false, __ATOMIC_SEQ_CST);
    __atomic_store_n(&has_ended, false, __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_kernel, (void *)(uintptr_t)way), 0);
    while (!__atomic_load_n(&has_begun, __ATOMIC_SEQ_CST))
        sched_yield();
    /*
     * The kernel is released afterwards: whoever is kept waiting waits for ever. Driver 580 itself
     * makes no second stream then.
     */
    for (int i = 0; i < (gpu_is_real() ? 1 : 20); i++) {
        work_beside(*way != destroy);
        usleep(1000);
    }
    assert_true(*way == put_many || !__atomic_load_n(&has_ended, __ATOMIC_SEQ_CST));
    __atomic_store_n(release, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    if (*way != destroy)
        OK(rex_queue_destroy(queue));
    if (rex_target_is_present(x, sizeof x, -1))
        OK(rex_data_exit(-1, &region));
    if (*way != end_module) {
        rex_device_free(memory, -1);
        rex_device_free(other_memory, -1);
        OK(rex_offload_fini());
    }
    rex_event_destroy(event);
    OK(rex_host_free(release));
}

static void wait_in_ways(const way_to_wait *each)
{
    OK(rex_configure(REX_OPTION_UNFINISHED, "wait"));
    OK(rex_configure(REX_OPTION_COPY_THREADS, "2"));
    for (; *each != NULL; each++)
        hold_and_wait(each);
}

TEST(waits_hold_nobody, .gpu = ON_GPU)
{
    wait_in_ways(ways);
}

TEST(copies_hold_nobody, .gpu = ON_GPU)
{
    if (gpu_is_real())
        leave_out("a driver that keeps other threads waiting while it copies pageable memory");
    wait_in_ways(copies);
}

TEST(waits_hold_nobody_in_a_trace, .gpu = ON_GPU)
{
    struct path file = temporary_file("waits.json");
    if (gpu_is_real())
        leave_out("a driver that itself waits when a stream has so many commands");
    setenv("REX_TRACE", file.text, 1);
    wait_in_ways(ways);
    wait_in_ways(copies);
    unlink(file.text);
}

/* ---- one queue for several threads ----------------------------------------------------------- */

/* Commands of other threads come before a large copy or after it, never beside it. */
static void *fill_or_copy(void *number)
{
    intptr_t own = (intptr_t)number;
    int wrong = 0;
    for (int i = 0; i < rounds_of(40); i++) {
        unsigned char value = (unsigned char)(own * 40 + i);
        if (own % 2 == 0)
            wrong |= rex_queue_fill(queue, memory, &value, 1, LARGE);
        else
            wrong |= rex_queue_copy_from(queue, own == 1 ? large : other_large, memory, LARGE);
        for (size_t at = 0; own % 2 != 0 && at < LARGE; at += 4096)
            wrong |= (own == 1 ? large : other_large)[at] != (own == 1 ? large : other_large)[0];
    }
    return wrong == 0 ? NULL : queue;
}

TEST(copies_of_several_threads)
{
    OK(rex_offload_init());
    OK(rex_configure(REX_OPTION_COPY_THREADS, "2"));
    queue = new_queue("shared", 0);
    memory = rex_device_alloc(LARGE, -1);
    OK(rex_queue_fill(queue, memory, "", 1, LARGE));
    run_threads(4, fill_or_copy);
    OK(rex_queue_destroy(queue));
    rex_device_free(memory, -1);
}
