/*
 * staging.c - large copies of ordinary memory, by threads: every byte right at every size, in the order of their queue, and whatever call
 * of the driver fails; what is left to the driver; many callers, faults and forks at once.
 *
 * The driver is a fake with device memory, which does nothing before somebody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "copying.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#include "rex_kmp.h"
#include "memory/copythreads.h"
#include "memory/staging.h"

/* ---- every byte -------------------------------------------------------------------------------------------------------------------------
 */

static const struct {
    size_t at, size, to, from; /* calls of the driver for it */
} sizes[] = {
    {0, 4 * MIB - 1, 1, 1},       {0, 4 * MIB, 4, 4},      {1, 4 * MIB, 4, 4},         {4095, 4 * MIB + 1, 5, 5},
    {MIB - 1, 5 * MIB - 1, 5, 5}, {3, 7 * MIB + 13, 8, 8}, {0, MOST *MIB, MOST, MOST}, {MOST * MIB - 4 * MIB, 4 * MIB, 4, 4},
};

TEST_OF_EACH(copy_all, const char *, order, "at once", "late")
{
    start(order, "3");
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        int to = driver_calls("cuMemcpyHtoDAsync"), from = driver_calls("cuMemcpyDtoHAsync");
        there_and_back(sizes[i].at, sizes[i].size, i);
        CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync") - to, sizes[i].to);
        CHECK_EQUAL(driver_calls("cuMemcpyDtoHAsync") - from, sizes[i].from);
    }
    finish();
}

/* As many threads as asked for, one and eight among them; and none. */
TEST_OF_EACH(copy_by, const char *, threads, "0", "1", "2", "8")
{
    size_t calls = strcmp(threads, "0") == 0 ? 1 : 6;
    start("late", threads);
    for (unsigned i = 0; i < 3; i++) {
        int to = driver_calls("cuMemcpyHtoDAsync");
        there_and_back(i, 6 * MIB - 1, i);
        CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync") - to, calls);
    }
    finish();
}

/* rex_device_copy_to() and its counterpart; what libomptarget copies, the driver is not asked for. */
TEST_IN_CHILD(copy_device)
{
    start("late", "2");
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        uint32_t touches = the_record()->touches;
        fill(host, sizes[i].at + sizes[i].size, i);
        CHECK_EQUAL(rex_device_copy_to(device + sizes[i].at, host + sizes[i].at, sizes[i].size, 0), REX_OK);
        CHECK_EQUAL(rex_device_copy_from(back + sizes[i].at, device + sizes[i].at, sizes[i].size, 0), REX_OK);
        CHECK(memcmp(bytes_at_device(device, 1) + sizes[i].at, host + sizes[i].at, sizes[i].size) == 0);
        CHECK(memcmp(back + sizes[i].at, host + sizes[i].at, sizes[i].size) == 0);
        CHECK_EQUAL(the_record()->touches - touches, sizes[i].to == 1 ? 2 : 0);
    }
    finish();
}

/* ---- order ------------------------------------------------------------------------------------------------------------------------------
 */

static void change_host(void *seed)
{
    fill(host, MOST * MIB, *(unsigned *)seed);
}

static void fill_device(struct rex_queue *in, unsigned char value, size_t size)
{
    CHECK_EQUAL(rex_queue_fill(in, device, &value, 1, size), REX_OK);
}

/* What is put in before a copy is done before it, also by another queue that it waits for; what comes after, after it. */
TEST_IN_CHILD(keep_order)
{
    unsigned seed = 9;
    struct rex_queue *other;
    struct rex_event *event;
    unsigned char *whole;
    start("late", "3");
    whole = bytes_at_device(device, MOST * MIB);
    fill_device(queue, 0x5a, MOST * MIB);
    CHECK_EQUAL(rex_queue_copy_from(queue, back, device, MOST * MIB), REX_OK);
    CHECK(is_all(back, 0x5a, MOST * MIB));
    fill_device(queue, 0x33, MOST * MIB);
    CHECK_EQUAL(rex_queue_host_func(queue, change_host, &seed), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, MOST * MIB), REX_OK);
    fill_device(queue, 0x44, MIB);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    fill(back, MOST * MIB, seed);
    CHECK(is_all(whole, 0x44, MIB) && memcmp(whole + MIB, back + MIB, (MOST - 1) * MIB) == 0);
    CHECK_EQUAL(rex_module_queue_create(&other, &module, 0, "other", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    fill_device(other, 0x66, MOST * MIB);
    CHECK_EQUAL(rex_event_record(event, other), REX_OK);
    CHECK_EQUAL(rex_queue_wait_event(queue, event), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, back, device, MOST * MIB), REX_OK);
    CHECK(is_all(back, 0x66, MOST * MIB));
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(other), REX_OK);
    finish();
}

/* ---- what the driver does ---------------------------------------------------------------------------------------------------------------
 */

static void expect_one_call(const void *from)
{
    int calls = driver_calls("cuMemcpyHtoDAsync");
    CHECK_EQUAL(rex_queue_copy_to(queue, device, from, 8 * MIB), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), calls + 1);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK(memcmp(bytes_at_device(device, 1), from, 8 * MIB) == 0);
}

/* Pinned memory, wholly or at one end; what is captured; and what is beyond the device's memory, of which nothing is copied. */
TEST_IN_CHILD(leave_to_driver)
{
    struct rex_graph *graph;
    start("late", "3");
    unsigned char *pinned = rex_host_alloc(8 * MIB);
    CHECK(pinned != NULL);
    fill(pinned, 8 * MIB, 1);
    expect_one_call(pinned);
    fill(host, 8 * MIB, 2);
    CHECK_EQUAL(rex_host_register(host + 7 * MIB, MIB), REX_OK);
    expect_one_call(host);
    CHECK_EQUAL(rex_host_unregister(host + 7 * MIB), REX_OK);
    CHECK_EQUAL(rex_host_register(host, MIB), REX_OK);
    expect_one_call(host);
    CHECK_EQUAL(rex_host_unregister(host), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    fill(host, 8 * MIB, 3);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 8 * MIB), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    fill(host, 8 * MIB, 4);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK(memcmp(bytes_at_device(device, 1), host, 8 * MIB) == 0);
    rex_graph_destroy(graph);
    memset(bytes_at_device(device, 1), 0x77, MOST * MIB);
    CHECK_EQUAL(rex_queue_copy_to(queue, device + 2, host, MOST * MIB), REX_ECUDA);
    CHECK(is_all(bytes_at_device(device, 1), 0x77, MOST * MIB));
    CHECK_EQUAL(rex_host_free(pinned), REX_OK);
    finish();
}

/* ---- failures ---------------------------------------------------------------------------------------------------------------------------
 */

struct failure {
    const char *call;
    int number; /* 0: each */
    bool first; /* whether it is there at the threads' start */
};

static void set_failure(const struct failure *failure)
{
    char value[96];
    snprintf(value, sizeof value, "%s:2:%d", failure->call, failure->number);
    setenv("FAKE_CUDA_BREAKS", value, 1);
}

/* With a failure a copy is right, or an error; after it all is right, and nothing is left behind. */
static void fail_once(const void *context)
{
    const struct failure *failure = context;
    size_t size = 6 * MIB + 5;
    start("late", "3");
    if (!failure->first)
        there_and_back(1, size, 1);
    fill(host, size, 2);
    set_failure(failure);
    int to = rex_queue_copy_to(queue, device, host, size), synced = rex_queue_sync(queue);
    bool is_right = memcmp(bytes_at_device(device, 1), host, size) == 0;
    int from = rex_queue_copy_from(queue, back, device, size);
    CHECK(to == REX_OK || to == REX_ECUDA);
    CHECK(to != REX_OK || synced != REX_OK || is_right);
    CHECK(from == REX_OK || from == REX_ECUDA);
    CHECK(from != REX_OK || memcmp(back, bytes_at_device(device, 1), size) == 0);
    /* Only these are called by the driver's own way, too. */
    bool is_drivers = strstr("cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuStreamSynchronize cuCtxPushCurrent", failure->call) != NULL;
    CHECK(is_drivers || (to == REX_OK && from == REX_OK));
    unsetenv("FAKE_CUDA_BREAKS");
    there_and_back(0, size, 3);
    finish();
    CHECK_EQUAL(driver_objects(), 0);
}

TEST(test_failures)
{
    static const char *const calls[] = {"cuMemHostAlloc",        "cuStreamCreate",           "cuEventCreate",
                                        "cuMemcpyHtoDAsync",     "cuMemcpyDtoHAsync",        "cuEventRecord",
                                        "cuEventSynchronize",    "cuStreamSynchronize",      "cuCtxPushCurrent",
                                        "cuPointerGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxPopCurrent"};
    for (size_t i = 0; i < COUNT(calls); i++)
        for (int number = 0; number < 10; number++) {
            struct failure failure = {calls[i], number, number % 2 == 0};
            in_child(fail_once, &failure);
        }
}

/* ---- at once ----------------------------------------------------------------------------------------------------------------------------
 */

enum { THREADS = 4, ROUNDS = 8 };

/* Each has a queue and memory of its own, which the main thread makes: the fake libomptarget is for one. */
static struct copier {
    pthread_t thread;
    unsigned number;
    size_t size;
    struct rex_queue *queue;
    unsigned char *device, *from, *to;
} copiers[THREADS];

static void *copy_often(void *argument)
{
    struct copier *own = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        fill(own->from, own->size, own->number * 16 + i);
        CHECK_EQUAL(rex_queue_copy_to(own->queue, own->device, own->from, own->size), REX_OK);
        CHECK_EQUAL(rex_queue_copy_from(own->queue, own->to, own->device, own->size), REX_OK);
        CHECK(memcmp(own->to, own->from, own->size) == 0);
    }
    return NULL;
}

static void run_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        size_t size = 5 * MIB + i;
        copiers[i] =
            (struct copier){.number = i, .size = size, .device = rex_device_alloc(size, 0), .from = new_bytes(size), .to = new_bytes(size)};
        CHECK(copiers[i].device != NULL);
        CHECK_EQUAL(rex_module_queue_create(&copiers[i].queue, &module, 0, "own", 0, NULL), REX_OK);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&copiers[i].thread, NULL, copy_often, &copiers[i]), 0);
}

static void join_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(copiers[i].thread, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK_EQUAL(rex_queue_destroy(copiers[i].queue), REX_OK);
        rex_device_free(copiers[i].device, 0);
    }
}

TEST_OF_EACH(copy_at_once, const char *, order, "at once", "late")
{
    start(order, "2");
    run_threads();
    join_threads();
    finish();
    CHECK_EQUAL(driver_objects(), 0);
}

/* Who has the threads has them alone. */
TEST_IN_CHILD(take_twice)
{
    start("late", "2");
    CHECK(rex_copy_threads_take());
    CHECK(!rex_copy_threads_take());
    int calls = driver_calls("cuMemcpyHtoDAsync");
    there_and_back(0, 8 * MIB, 1);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), calls + 1);
    rex_copy_threads_give();
    there_and_back(0, 8 * MIB, 2);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), calls + 9);
    finish();
}

/* ---- the threads ------------------------------------------------------------------------------------------------------------------------
 */

/* Half of the processors copy, eight at most; and none where that is one alone. */
struct half {
    int processors;
    unsigned threads;
};
static const struct half halves[] = {{1, 0}, {2, 0}, {3, 0}, {4, 2}, {5, 2}, {6, 3}, {15, 7}, {16, 8}, {17, 8}, {18, 8}, {256, 8}};

TEST_FOR_EACH(count_threads, half, halves)
{
    setenv("REX_COPY_THREADS", "auto", 1);
    processors = half->processors;
    CHECK_EQUAL(rex_copy_threads(), half->threads);
    processors = 10; /* they are counted once */
    CHECK_EQUAL(rex_copy_threads(), half->threads);
}

/* Whoever chooses has as many as that, or none. */
TEST_OF_EACH(choose_threads, const char *, number, "0", "1", "8")
{
    setenv("REX_COPY_THREADS", number, 1);
    processors = 10;
    CHECK_EQUAL(rex_copy_threads(), (unsigned)atoi(number));
}

static int faults;

/* The program's handler, which makes room and goes on. */
static void make_accessible(int signal, siginfo_t *information, void *context)
{
    (void)signal, (void)context;
    uintptr_t page = (uintptr_t)information->si_addr & ~(uintptr_t)4095;
    if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) != 0)
        _exit(97);
    __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
}

/* A fault in memory that the program has protected reaches its handler, to the device and from it. */
TEST_IN_CHILD(meet_faults)
{
    struct sigaction action = {.sa_sigaction = make_accessible, .sa_flags = SA_SIGINFO};
    start("late", "3");
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    fill(host, 8 * MIB, 5);
    CHECK_EQUAL(mprotect(host + 5 * MIB, 4096, PROT_NONE), 0);
    CHECK_EQUAL(mprotect(back + 3 * MIB + 4096, 4096, PROT_READ), 0);
    int calls = driver_calls("cuMemcpyHtoDAsync");
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 8 * MIB), REX_OK);
    CHECK_EQUAL(faults, 1);
    CHECK_EQUAL(rex_queue_copy_from(queue, back, device, 8 * MIB), REX_OK);
    CHECK_EQUAL(faults, 2);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync") - calls, 8);
    CHECK(memcmp(back, host, 8 * MIB) == 0);
    finish();
}

/* Thread ID blocks what is sent, but no fault, and may run on ALL processors. */
static void look_at_thread(int id, const cpu_set_t *all)
{
    char path[64], line[256];
    unsigned long long blocked = 0;
    cpu_set_t allowed;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "SigBlk: %llx", &blocked);
    fclose(file);
    CHECK(blocked >> (SIGTERM - 1) & 1 && blocked >> (SIGUSR1 - 1) & 1 && blocked >> (SIGALRM - 1) & 1);
    CHECK(!(blocked >> (SIGSEGV - 1) & 1) && !(blocked >> (SIGBUS - 1) & 1));
    CHECK_EQUAL(sched_getaffinity(id, sizeof allowed, &allowed), 0);
    CHECK(memcmp(&allowed, all, sizeof allowed) == 0);
}

/* The other threads of the process, in IDS. */
static size_t list_threads(int ids[64])
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (const struct dirent *task = readdir(tasks); task != NULL && count < 64; task = readdir(tasks))
        if (task->d_name[0] != '.' && atoi(task->d_name) != getpid())
            ids[count++] = atoi(task->d_name);
    closedir(tasks);
    return count;
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* The threads, which a thread starts that is bound to one processor. */
TEST_IN_CHILD(look_at_threads)
{
    cpu_set_t all, one;
    int before[64], now[64];
    size_t first = 0;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_SET(first, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    start("late", "5");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
    size_t others = list_threads(before); /* a sanitizer's, which comes with the first thread */
    there_and_back(0, 8 * MIB, 1);
    size_t count = list_threads(now), found = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < others; k++)
            is_new &= now[i] != before[k];
        if (is_new)
            look_at_thread(now[i], &all);
        found += is_new;
    }
    CHECK_EQUAL(found, 5);
    finish();
}

/* ---- the trace --------------------------------------------------------------------------------------------------------------------------
 */

static char trace[PATH_MAX + 16];

/* The trace is written at the end of the process. */
static void copy_traced(const void *threads)
{
    setenv("REX_TRACE", trace, 1);
    start("late", threads);
    there_and_back(0, 8 * MIB, 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, 8 * MIB, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(back, device, 8 * MIB, 0), REX_OK);
    finish();
    exit(0);
}

/* How often each of these is in the trace. */
static const char *const traced[] = {"\"queue copy to device\"", "\"queue copy from device\"", "\"copy to device\"",
                                     "\"copy from device\""};

static void count_traced(const char *threads, int counts[COUNT(traced)])
{
    size_t size;
    in_child(copy_traced, threads);
    char *text = (char *)read_bytes(trace, &size);
    text[size - 1] = '\0';
    for (size_t i = 0; i < COUNT(traced); i++)
        counts[i] = occurrences(text, traced[i]);
    free(text);
}

/* The same lines, whoever copies. */
TEST(test_trace)
{
    char folder[PATH_MAX];
    int driver[COUNT(traced)], threads[COUNT(traced)];
    make_folder(folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    count_traced("0", driver);
    count_traced("3", threads);
    for (size_t i = 0; i < COUNT(traced); i++) {
        assert_true(driver[i] > 0);
        assert_int_equal(threads[i], driver[i]);
    }
    remove_folder(folder);
}

/* ---- forks ------------------------------------------------------------------------------------------------------------------------------
 */

/* A child is refused, whether others are copying or not, and ends; the parent's threads go on. */
TEST_IN_CHILD(fork_often)
{
    start("late", "2");
    there_and_back(0, 8 * MIB, 1);
    run_threads();
    for (int i = 0; i < 10; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 8 * MIB), REX_EFORK);
            CHECK(rex_copy_threads_take());
            rex_copy_threads_give();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    join_threads();
    there_and_back(0, 8 * MIB, 2);
    finish();
}
