/*
 * plaindriver.h - what benchmarks need to call the driver beside librex: its functions by name,
 * calls that must succeed, and the time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef BENCH_PLAINDRIVER_H
#define BENCH_PLAINDRIVER_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rex/error.h>

static inline void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %d %s\n", what, result, rex_last_error());
        exit(1);
    }
}
#define MUST(call) must((call), #call)

/* Writes the address of the driver's function NAME to SLOT. */
static inline void find(void *slot, const char *name)
{
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    must(address == NULL, name);
    memcpy(slot, &address, sizeof address);
}
#define FIND(name) find(&cu.name, #name)

/* Returns microseconds. */
static inline double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + 1e-3 * (double)at.tv_nsec;
}

#endif
