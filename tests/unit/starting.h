/*
 * starting.h - threads start as long as a test lets them: for programs that are linked with --wrap=pthread_create.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_STARTING_H
#define REX_TESTS_UNIT_STARTING_H

#include <errno.h>
#include <pthread.h>

/* So many threads can still be started; -1: any number. */
static _Atomic int threads_left = -1;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(thread, attributes, begin, argument);
}

#endif
