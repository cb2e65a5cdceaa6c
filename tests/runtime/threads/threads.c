/*
 * 64 threads reach the safe wrapper at once: one of them registers, and so opens the image once,
 * and all launches are right. Where the image is missing, one attempt fails for all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/runtime.h"

REX_KERNEL(square);

enum { THREADS = 64 };

/* ---- librex's calls of open() and sched_yield() come here ------------------------------------ */

/*
 * How often the file at WATCHED was opened. While it is HELD, the thread that opens it, which is
 * the one that registers, waits until the 63 others are seen waiting for it.
 */
static struct path watched;
static int opened, held, gave_up, waiting;
static __thread int seen_waiting;

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    if (strcmp(path, watched.text) == 0) {
        struct timespec moment = {0, 1000000};
        __atomic_fetch_add(&opened, 1, __ATOMIC_SEQ_CST);
        int most = __atomic_load_n(&held, __ATOMIC_ACQUIRE) ? 10000 : 0;
        for (int i = 0; i < most && __atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS - 1; i++)
            nanosleep(&moment, NULL);
        if (most > 0 && __atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS - 1)
            __atomic_store_n(&gave_up, 1, __ATOMIC_SEQ_CST);
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int sched_yield(void)
{
    if (__atomic_load_n(&held, __ATOMIC_ACQUIRE) && !seen_waiting) {
        seen_waiting = 1;
        __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    }
    return (int)syscall(SYS_sched_yield);
}

/* ---- the threads ----------------------------------------------------------------------------- */

static int round_number, done, stop, expect_failure;

struct worker {
    pthread_t thread;
    int64_t number;
    const char *wrong;
};

/* One launch by the safe wrapper; what is wrong with the outcome, or NULL. */
static const char *launch(int64_t value)
{
    int64_t result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 32);
    int answer = __tgt_target_kernel(-1, 1, 32, REX_KERNEL_ID(square), &packet);
    if (expect_failure) {
        if (answer != REX_EHOST)
            return "a launch did not return -1";
        if (rex_last_error_code() != REX_ENOIMAGE ||
            strstr(rex_last_error(), "no device image") == NULL)
            return "a thread has another error than the attempt's";
        return result == -1 ? NULL : "an output was touched";
    }
    if (answer != 0)
        return "a launch failed";
    return result == value * value ? NULL : "a result is wrong";
}

/*
 * Threads wait for a round by looking, not by sleeping: those that have a core then begin within
 * nanoseconds of each other, which is what the race for the registration needs.
 */
static void wait_for_round(int number)
{
    for (int i = 1; __atomic_load_n(&round_number, __ATOMIC_ACQUIRE) < number; i++)
        if (i % 1000 == 0)
            syscall(SYS_sched_yield);
}

static void *work(void *argument)
{
    struct worker *me = argument;
    for (int number = 1;; number++) {
        wait_for_round(number);
        if (stop)
            return NULL;
        const char *wrong = launch(me->number + 1000 * number);
        if (wrong != NULL)
            me->wrong = wrong;
        __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    }
}

static void start_threads(struct worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

/* All threads launch once, at the same time. */
static void round_of_launches(struct worker workers[THREADS])
{
    struct timespec moment = {0, 20000};
    __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&round_number, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS)
        nanosleep(&moment, NULL);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].wrong != NULL)
            fail_msg("thread %d: %s", i, workers[i].wrong);
}

static void end_threads(struct worker workers[THREADS])
{
    stop = 1;
    __atomic_fetch_add(&round_number, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(one_registration_a_round)
{
    static struct worker workers[THREADS];
    int rounds = registrations_of(1000);
    watched = default_image();
    start_threads(workers);
    for (int i = 1; i <= rounds; i++) {
        round_of_launches(workers);
        round_of_launches(workers);                     /* registered already */
        if (loads_late()) /* LLVM 18 gets one registration, which stays */
            assert_int_equal(opened, i);
        assert_int_equal(rex_offload_fini(), 0);
        if (i % 100 == 0)
            remove_temporary_images();
    }
    end_threads(workers);
}

TEST(one_failure_for_all)
{
    static struct worker workers[THREADS];
    watched = temporary_file("late-image");
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, watched.text), 0);
    assert_int_equal(rex_runtime_bind(), 0);
    start_threads(workers);
    expect_failure = 1;
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    round_of_launches(workers);
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    assert_false(gave_up);
    assert_int_equal(opened, 1);
    assert_int_equal(waiting, THREADS - 1);
    /* The file appears: the next call of every thread succeeds. */
    copy_file(default_image().text, watched.text);
    opened = 0;
    expect_failure = 0;
    round_of_launches(workers);
    assert_int_equal(opened, 1);
    end_threads(workers);
    unlink(watched.text);
}

/* Whoever waits for signals in a thread of its own blocks them in all others. */
TEST(signal_mask_is_kept)
{
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &before, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    for (int i = 0; i < 10; i++)
        assert_null(launch(i));
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    /* pthread_sigmask() writes 8 bytes of the 128 that a sigset_t has. */
    for (int i = 1; i < SIGRTMAX; i++)
        assert_int_equal(sigismember(&after, i), sigismember(&before, i));
}
