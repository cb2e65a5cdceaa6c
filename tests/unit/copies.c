/*
 * copies.c - large copies of pageable memory, which threads make: where no thread starts, a call of
 * the driver fails, memory is protected or the process forks, every byte is right or the call says
 * what failed, and nothing stays behind.
 *
 * The driver is a fake with device memory, which does nothing before somebody waits for it. Copies
 * that nothing disturbs are tested in runtime/copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/process.h"
#include "computing.h"
#include "memory/makecopy.h"
#include "memory/copythreads.h"
#include "plain.h"
#include "rex/queue.h"

#define MIB ((size_t)1 << 20)
enum { MOST = 8 << 20, SIZE = (6 << 20) + 5 };

/* So many threads can still be started; -1: any number. */
static _Atomic int threads_left = -1;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(thread, attributes, begin, argument);
}

static unsigned char *host, *back, *device;
static struct rex_queue *queue;

static void fill(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

static unsigned char *new_bytes(size_t size)
{
    unsigned char *bytes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(bytes != MAP_FAILED);
    return bytes;
}

static struct rex_queue *new_queue(void)
{
    struct rex_queue *made = NULL;
    CHECK_EQUAL(rex_module_queue_create(&made, &module, 0, "copies", 0, NULL), REX_OK);
    return made;
}

static void start(const char *threads)
{
    setenv("REX_COPY_THREADS", threads, 1);
    use_computing_gpu(19, "late");
    queue = new_queue();
    device = rex_device_alloc(MOST, 0);
    CHECK(device != NULL);
    host = new_bytes(MOST);
    back = new_bytes(MOST);
}

static bool is_on_device(const unsigned char *bytes, size_t size)
{
    return memcmp(at_device((uintptr_t)device, size), bytes, size) == 0;
}

static void there_and_back(unsigned seed)
{
    fill(host, SIZE, seed);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, SIZE), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, back, device, SIZE), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK(is_on_device(host, SIZE) && memcmp(back, host, SIZE) == 0);
}

/* Nothing of the driver's stays, and no host memory is pinned. */
static void finish(void)
{
    rex_device_free(device, 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(DRIVERS(int (*)(void), "fake_cuda_pinned")(), 0);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* No thread can be started, then one alone, then all; and again after the last module has ended. */
static void start_few(const void *unused)
{
    (void)unused;
    setenv("REX_LOG", "info", 1);
    for (int threads = 0; threads < 3; threads++) {
        threads_left = threads < 2 ? threads : -1;
        start("3");
        there_and_back((unsigned)threads);
        finish();
    }
}

TEST(test_start_few)
{
    static const char said[] =
        " bytes were not copied by threads, but by the driver: no thread could be started\n";
    const char *output = in_child(start_few, NULL);
    assert_int_equal(occurrences(output, said), 2); /* where there was none: there and back */
    assert_int_equal(occurrences(output, "large copies of pageable memory are made by 1 threads"),
                     1);
    assert_int_equal(occurrences(output, "large copies of pageable memory are made by "), 2);
}

static _Atomic int works[3];

static void count_work(unsigned number, void *job)
{
    CHECK(job == works);
    works[number]++;
}

/* Each thread works once for each job, and a caller that comes meanwhile gets another crew or none. */
TEST_IN_CHILD(work_once)
{
    struct rex_copy_crew *crew[] = {rex_copy_crew_take(2), rex_copy_crew_take(2)};
    CHECK(crew[0] != NULL && crew[1] != NULL && crew[0] != crew[1] && rex_copy_crew_take(2) == NULL);
    for (int jobs = 1; jobs < 20; jobs++) {
        rex_copy_crew_run(crew[jobs % 2], 3, count_work, works);
        CHECK(works[0] == jobs && works[1] == jobs && works[2] == jobs);
    }
    rex_copy_crew_give(crew[0]);
    CHECK(rex_copy_crew_take(2) == crew[0]);
    rex_copy_crew_give(crew[0]);
    rex_copy_crew_give(crew[1]);
}

/* What lies beyond the device's memory is an error, and nothing is copied. */
TEST_IN_CHILD(copy_beyond)
{
    start("3");
    there_and_back(1);
    fill(host, MOST, 2);
    CHECK_EQUAL(rex_queue_copy_to(queue, device + 2, host, MOST), REX_ECUDA);
    CHECK(is_on_device(back, SIZE));
    /* Nothing tells librex of the program's own calls: libomptarget copies it. */
    REX_MAP(region, REX_TO(host, MOST));
    CHECK(rex_module_data_enter(&module, 0, &region) == REX_OK &&
          newest_call(FAKE_BEGIN)->types[0] == region.types[0]);
    finish();
}

/* What is pinned where it begins, or where it ends, the driver copies; what is pinned behind it is another's. */
TEST_OF_EACH(copy_pinned_part, size_t, at, 0, SIZE - 1, SIZE)
{
    start("3");
    CHECK_EQUAL(rex_host_register(host + at, 1), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, SIZE), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync") == 1, at < SIZE);
}

/* One range that is pinned has all the bytes: the driver copies them with one call and a wait, and is asked nothing. */
TEST_IN_CHILD(copy_pinned_whole)
{
    enum { PINNED = 4096, ROWS = 8 };
    struct rex_dimension rows[] = {{ROWS, 0, ROWS, 1}, {PINNED / ROWS, 0, 8, 1}};
    start("0");
    fill(host, PINNED + 1, 1);
    CHECK_EQUAL(rex_host_register(host, PINNED), REX_OK);
    CHECK_EQUAL(rex_device_copy_to(device, host, PINNED, 0), REX_OK);
    int calls = driver_calls(NULL);
    CHECK_EQUAL(rex_device_copy_to(device, host + 1, PINNED - 1, 0), REX_OK);
    CHECK(driver_calls(NULL) - calls == 2 && is_on_device(host + 1, PINNED - 1));
    CHECK_EQUAL(rex_device_copy_from(host, device, PINNED - 1, 0), REX_OK);
    CHECK(driver_calls(NULL) - calls == 4 && is_on_device(host, PINNED - 1));
    /* Runs of a rectangle are waited for together. */
    struct rex_array_part to = {.base = device, .dimensions = rows, .device = 0};
    struct rex_array_part from = {.base = host, .dimensions = rows, .device = 1};
    int copies = driver_calls("cuMemcpyHtoDAsync"), waits = driver_calls("cuStreamSynchronize");
    CHECK_EQUAL(rex_device_copy_part(&to, &from, 1, 2), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") - copies == ROWS && driver_calls("cuStreamSynchronize") - waits == 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, PINNED + 1, 0), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") - copies == ROWS && is_on_device(host, PINNED + 1));
    CHECK_EQUAL(rex_host_unregister(host), REX_OK);
    finish();
}

/* ---- failures -------------------------------------------------------------------------------- */

struct failure {
    const char *call;
    int number; /* 0: each */
};

/* The bytes are right, or a call says which one of the driver's failed; after it all is right. */
static bool is_right(int result, const char *call)
{
    CHECK(result == REX_OK || result == REX_ECUDA);
    if (result == REX_ECUDA)
        CHECK_MENTIONS(rex_last_error(), call);
    return result == REX_OK;
}

static void fail_at(const void *context)
{
    const struct failure *failure = context;
    char breaks[96];
    start("3");
    if (failure->number % 2 == 0)
        there_and_back(1);
    fill(host, SIZE, 2);
    snprintf(breaks, sizeof breaks, "%s:2:%d", failure->call, failure->number);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    bool there = is_right(rex_queue_copy_to(queue, device, host, SIZE), failure->call);
    there &= is_right(rex_queue_sync(queue), failure->call);
    CHECK(!there || is_on_device(host, SIZE));
    if (is_right(rex_queue_copy_from(queue, back, device, SIZE), failure->call))
        CHECK(is_on_device(back, SIZE));
    /* Where librex cannot copy, libomptarget does. */
    fill(host, SIZE, 3);
    CHECK_EQUAL(rex_device_copy_to(device, host, SIZE, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(back, device, SIZE, 0), REX_OK);
    CHECK(is_on_device(host, SIZE) && memcmp(back, host, SIZE) == 0);
    unsetenv("FAKE_CUDA_BREAKS");
    there_and_back(4);
    finish();
}

TEST(test_failures)
{
    static const char *const calls[] = {
        "cuMemHostAlloc",        "cuStreamCreate",          "cuEventCreate",
        "cuMemcpyHtoDAsync",     "cuMemcpyDtoHAsync",       "cuEventRecord",
        "cuEventSynchronize",    "cuStreamSynchronize",     "cuCtxPushCurrent",
        "cuPointerGetAttribute", "cuDevicePrimaryCtxRetain"};
    static const char told[] = "not copied by threads, but by the driver: ";
    setenv("REX_LOG", "info", 1);
    for (size_t i = 0; i < COUNT(calls); i++)
        for (int number = 0; number < 6; number++) {
            struct failure failure = {calls[i], number};
            const char *why = strstr(run_child_well(calls[i], fail_at, &failure), told);
            assert_true(why == NULL ||
                        strncmp(why + strlen(told), calls[i], strlen(calls[i])) == 0);
        }
    unsetenv("REX_LOG");
}

/* Where the driver tells no GPU of its own for an address, as for memory that a device reaches as the processor does. */
TEST_OF_EACH(copy_elsewhere, const char *, ordinal, "-2", "-1", "64")
{
    start("3");
    setenv("FAKE_CUDA_ORDINAL", ordinal, 1);
    fill(host, SIZE, 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, SIZE, 0), REX_OK);
    CHECK(is_on_device(host, SIZE) && driver_calls("cuMemcpyHtoDAsync") == 0);
    CHECK_EQUAL(rex_host_register(back, MOST), REX_OK);
    CHECK_EQUAL(rex_device_copy_to(device, back, SIZE, 0), REX_OK);
    CHECK(is_on_device(back, SIZE) && driver_calls("cuMemcpyHtoDAsync") == 0);
}

/* Where libomptarget reports what it copies, to a tool or a user. */
TEST_OF_EACH(copy_reported, const char *, variable, "OMP_TOOL_LIBRARIES", "LIBOMPTARGET_PROFILE")
{
    setenv(variable, "x", 1);
    start("3");
    fill(host, SIZE, 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, SIZE, 0), REX_OK);
    CHECK(is_on_device(host, SIZE) && driver_calls("cuMemcpyHtoDAsync") == 0);
}

/* ---- how many threads ------------------------------------------------------------------------ */

/* If no setting says how many: half of the processors, from two threads on. A setting counts at once. */
TEST_IN_CHILD(count_threads)
{
    for (int count = 1; count < 20; count++)
        CHECK_EQUAL(rex_copy_threads_of(count), count < 4 ? 0u : count < 16 ? (unsigned)count / 2 : 8u);
    CHECK_EQUAL(rex_copy_threads(), rex_copy_threads_of(rex_processors("")));
    CHECK(rex_copy_crews_of(1, 0) == 1 && rex_copy_crews_of(16, 8) == 1 && rex_copy_crews_of(31, 8) == 1);
    CHECK(rex_copy_crews_of(32, 8) == 2 && rex_copy_crews_of(256, 8) == 8 && rex_copy_crews_of(8, 1) == 4);
    CHECK_EQUAL(rex_configure(REX_OPTION_COPY_THREADS, "0"), REX_OK);
    CHECK_EQUAL(rex_copy_threads(), 0);
}

/* Threads begin when the driver has taken what their start takes, and pause for sizes at which they are slower. */
TEST_IN_CHILD(measure)
{
    rex_copy_large_took(false, 4 << 20, 7999999);
    CHECK(!rex_copy_threads_pay(4 << 20));
    rex_copy_large_took(false, 16 << 20, 1);
    CHECK(rex_copy_threads_pay(4 << 20) && rex_copy_threads_pay(64 << 20));
    rex_copy_large_took(true, 4 << 20, 9000000);
    CHECK(!rex_copy_threads_pay(7 << 20) && rex_copy_threads_pay(8 << 20) && rex_copy_threads_pay(64 << 20));
    rex_copy_large_took(false, 4 << 20, 800000000);
    CHECK(rex_copy_threads_pay(4 << 20));
    rex_copy_large_took(true, 4 << 20, 9000000);
    CHECK(rex_copy_threads_pay(4 << 20)); /* the driver has become slower */
    CHECK_EQUAL(rex_configure(REX_OPTION_COPY_THREADS, "1"), REX_OK);
    CHECK(rex_copy_threads_pay(4 << 20));
}

/* ---- the program ----------------------------------------------------------------------------- */

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

/* A fault in memory that the program has protected reaches its handler, to the device and from it.
 */
TEST_IN_CHILD(meet_faults)
{
    struct sigaction action = {.sa_sigaction = make_accessible, .sa_flags = SA_SIGINFO};
    start("3");
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    fill(host, SIZE, 5);
    CHECK_EQUAL(mprotect(host + 5 * MIB, 4096, PROT_NONE), 0);
    CHECK_EQUAL(mprotect(back + 3 * MIB + 4096, 4096, PROT_READ), 0);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, SIZE), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, back, device, SIZE), REX_OK);
    CHECK(faults == 2 && memcmp(back, host, SIZE) == 0);
    finish();
}

#ifndef __SANITIZE_THREAD__ /* which has a thread of its own */

/* Thread ID blocks what is sent to the process, but no fault, and may run on ALL processors. */
static void look_at_thread(int id, const cpu_set_t *all)
{
    static const int unblocked[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    char path[64], line[256];
    unsigned long long blocked = 0;
    cpu_set_t allowed;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "SigBlk: %llx", &blocked);
    fclose(file);
    CHECK(blocked >> (SIGTERM - 1) & 1 && blocked >> (SIGALRM - 1) & 1);
    for (size_t i = 0; i < COUNT(unblocked); i++)
        CHECK(!(blocked >> (unblocked[i] - 1) & 1));
    CHECK_EQUAL(sched_getaffinity(id, sizeof allowed, &allowed), 0);
    CHECK(memcmp(&allowed, all, sizeof allowed) == 0);
}

/* The threads, one for each MiB at most, which a thread starts that is bound to one processor. */
TEST_IN_CHILD(look_at_threads)
{
    cpu_set_t all, one;
    int found = 0;
    size_t first = 0;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_SET(first, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    start("8");
    there_and_back(1);
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (const struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks))
        if (task->d_name[0] != '.' && atoi(task->d_name) != getpid()) {
            look_at_thread(atoi(task->d_name), &all);
            found++;
        }
    closedir(tasks);
    CHECK_EQUAL(found, SIZE / MIB + 1);
    sigset_t blocked; /* of the caller */
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGTERM));
    finish();
}

#endif

/* ---- at once, and forks ---------------------------------------------------------------------- */

/* Each has a queue and memory of its own, which the main thread makes: the fake libomptarget is for
 * one. */
enum { COPIERS = 4 };
static struct copier {
    pthread_t thread;
    unsigned number;
    struct rex_queue *queue;
    unsigned char *device, *from, *to;
} copiers[COPIERS];

static void *copy_often(void *argument)
{
    struct copier *own = argument;
    for (unsigned i = 0; i < 8; i++) {
        fill(own->from, SIZE, own->number * 16 + i);
        CHECK_EQUAL(rex_queue_copy_to(own->queue, own->device, own->from, SIZE), REX_OK);
        CHECK_EQUAL(rex_queue_copy_from(own->queue, own->to, own->device, SIZE), REX_OK);
        CHECK(memcmp(own->to, own->from, SIZE) == 0);
    }
    return NULL;
}

/* Meanwhile a child is refused, and ends; the parent's threads go on. */
TEST_IN_CHILD(copy_at_once)
{
    start("2");
    for (unsigned i = 0; i < COPIERS; i++) {
        copiers[i] = (struct copier){
            .number = i, .queue = new_queue(), .from = new_bytes(SIZE), .to = new_bytes(SIZE)};
        copiers[i].device = rex_device_alloc(SIZE, 0);
        CHECK(copiers[i].device != NULL);
    }
    for (unsigned i = 0; i < COPIERS; i++)
        CHECK_EQUAL(pthread_create(&copiers[i].thread, NULL, copy_often, &copiers[i]), 0);
    for (int i = 0; i < 10; i++)
        CHECK_IN_FORK(rex_queue_copy_to(queue, device, host, SIZE) == REX_EFORK);
    for (unsigned i = 0; i < COPIERS; i++) {
        CHECK_EQUAL(pthread_join(copiers[i].thread, NULL), 0);
        CHECK_EQUAL(rex_queue_destroy(copiers[i].queue), REX_OK);
        rex_device_free(copiers[i].device, 0);
    }
    there_and_back(2);
    finish();
}

/* ---- the trace ------------------------------------------------------------------------------- */

static char trace[PATH_MAX + 16];

/* The trace is written at the end of the process. */
static void copy_traced(const void *threads)
{
    setenv("REX_TRACE", trace, 1);
    start(threads);
    there_and_back(1);
    CHECK_EQUAL(rex_device_copy_to(device, host, SIZE, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(back, device, SIZE, 0), REX_OK);
    finish();
    exit(0);
}

/* The same lines, whoever copies. */
TEST(test_trace)
{
    static const char *const traced[] = {"\"queue copy to device\"", "\"queue copy from device\"",
                                         "\"copy to device\"", "\"copy from device\""};
    char folder[PATH_MAX];
    int driver[COUNT(traced)];
    make_folder(folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    for (int threads = 0; threads < 2; threads++) {
        in_child(copy_traced, threads > 0 ? "3" : "0");
        for (size_t i = 0; i < COUNT(traced); i++) {
            int count = in_file(trace, traced[i]);
            assert_true(count > 0);
            if (threads > 0)
                assert_int_equal(count, driver[i]);
            driver[i] = count;
        }
    }
    remove_folder(folder);
}
