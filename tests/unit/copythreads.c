/*
 * copythreads.c - the threads that copy, with jobs that copy nothing: how many work and with which numbers, again and again, in a child of
 * fork, and what becomes of the thread that waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "memory/copythreads.h"
#include "starting.h"

/* How often each number has worked. */
struct job {
    int done[REX_COPY_THREADS_MOST + 1];
};

static void work(unsigned number, void *argument)
{
    struct job *job = argument;
    __atomic_fetch_add(&job->done[number <= REX_COPY_THREADS_MOST ? number : REX_COPY_THREADS_MOST], 1, __ATOMIC_RELAXED);
}

/* A job for COUNT threads is done by numbers 0 to EXPECTED - 1, once each, when the call returns. */
static void run(unsigned count, unsigned expected)
{
    struct job job = {0};
    CHECK(rex_copy_threads_take());
    rex_copy_threads_run(count, work, &job);
    rex_copy_threads_give();
    for (unsigned i = 0; i <= REX_COPY_THREADS_MOST; i++)
        CHECK_EQUAL(job.done[i], i < expected);
}

/* As many as asked for, more later and fewer, at most eight; and no more than could be started. */
TEST_IN_CHILD(run_all)
{
    static const unsigned counts[] = {2, 5, 1, 3, 8, 2, 8, 0, 4};
    alarm(20);
    threads_left = 0;
    run(3, 0);
    threads_left = 1;
    run(3, 1);
    threads_left = -1;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < COUNT(counts); i++)
            run(counts[i], counts[i]);
    run(100, REX_COPY_THREADS_MOST);
}

/* A child has none of its parent's threads, and starts its own, though its parent's were taken. */
TEST_IN_CHILD(run_in_child_of_fork)
{
    int status;
    alarm(20);
    run(3, 3);
    CHECK(rex_copy_threads_take());
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(10);
        run(2, 2);
        run(4, 4);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(!rex_copy_threads_take());
    rex_copy_threads_give();
    run(4, 4);
}

TEST_IN_CHILD(run_with_mask)
{
    sigset_t mask, before, after;
    alarm(20);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    run(3, 3);
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (int number = 1; number < NSIG; number++)
        CHECK_EQUAL(sigismember(&after, number), sigismember(&before, number));
}

/* ---- cancelled ----------------------------------------------------------------------------------------------------------------------- */

static struct {
    int begun, cancelled, ended, returned, beyond;
} steps;

static void wait_until(const int *step)
{
    while (!__atomic_load_n(step, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void work_meanwhile(unsigned number, void *unused)
{
    (void)number, (void)unused;
    __atomic_store_n(&steps.begun, 1, __ATOMIC_RELEASE);
    wait_until(&steps.cancelled);
    usleep(20000);
    __atomic_store_n(&steps.ended, 1, __ATOMIC_RELEASE);
}

static void *run_and_be_cancelled(void *unused)
{
    (void)unused;
    rex_copy_threads_run(1, work_meanwhile, NULL);
    steps.returned = __atomic_load_n(&steps.ended, __ATOMIC_ACQUIRE);
    pthread_testcancel();
    steps.beyond = 1;
    return NULL;
}

/* A thread that is cancelled while it waits for the others goes on until they have ended, and then no further. */
TEST_IN_CHILD(cancel)
{
    pthread_t thread;
    void *result;
    alarm(20);
    CHECK_EQUAL(pthread_create(&thread, NULL, run_and_be_cancelled, NULL), 0);
    wait_until(&steps.begun);
    CHECK_EQUAL(pthread_cancel(thread), 0);
    __atomic_store_n(&steps.cancelled, 1, __ATOMIC_RELEASE);
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED && steps.returned == 1 && steps.beyond == 0);
    run(2, 2);
}
