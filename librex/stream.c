/*
 * stream.c - what queues need of the CUDA driver, found when the first queue is made: a driver that is too old for queues is good enough
 * for the rest.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "log.h"

struct rex_stream_driver rex_stream_driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool found;

int rex_stream_ready(void)
{
    static const struct rex_cuda_function functions[] = {
#define FUNCTION(function, name, since, parameters) {name, since, &rex_stream_driver.function},
        REX_STREAM_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    static const struct rex_cuda_function load = {"cuFuncLoad", "12.4", &rex_stream_driver.cuFuncLoad}; /* not needed: older ones load at once */
    rex_lock(&lock);
    if (!found && rex_cuda_find(functions, sizeof functions / sizeof *functions) == 0) {
        found = true;
        rex_cuda_find(&load, 1);
    }
    int result = found ? 0 : -1;
    rex_unlock(&lock);
    return result;
}
