/*
 * openmp.c - a compiler's own OpenMP: the work is in openmp/PROGRAM.c, and librex's functions are not called.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <omp.h>

#include "peer.h"

const char *peer_name(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

int peer_open(const struct rex_module *module)
{
    int on_host = 1;
    (void)module;
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    return on_host ? peer_fail("the target region ran on the host") : 0;
}

int peer_launch(const void *key, const uint32_t *teams, const uint32_t *threads, uint32_t dynamic_memory, uint64_t trip_count,
                const struct peer_rows *rows)
{
    (void)key, (void)teams, (void)threads, (void)dynamic_memory, (void)trip_count, (void)rows;
    return peer_fail("a launch through librex");
}

int peer_data(enum peer_data what, const struct peer_rows *rows)
{
    (void)what, (void)rows;
    return peer_fail("a data call through librex");
}
