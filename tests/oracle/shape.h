/*
 * shape.h - one shape: a construct written twice, as a pragma for clang and by hand with librex.
 *
 *     SHAPE(map_to)
 *     {
 *         int a[8], sum = 0;
 *         FILL(a);
 *         OBJECT(sum);
 *     #ifdef ORACLE_CLANG
 *         #pragma omp target map(to : a) map(tofrom : sum)
 *         sum = a[1];
 *     #else
 *         REX_MAP(map, REX_OBJECT(REX_MAP_TOFROM, sum), REX_OBJECT(REX_MAP_TO, a));
 *         LAUNCH(first, map);
 *     #endif
 *         RESULT(sum);
 *     }
 *
 * Kernels are in kernels.cu; a parameter for each row with REX_MAP_TARGET_PARAM, in the rows' order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef ORACLE_SHAPE_H
#define ORACLE_SHAPE_H

#include <stdlib.h>
#include <string.h>

#ifndef ORACLE_CLANG
#include <rex/entry.h>
#include <rex/launch.h>
#include <rex_kmp.h>
#endif

#include "recorder.h"

void shape_add(const char *name, void (*run)(void));

/* SHAPE(name) { ... }: one shape; shapes register themselves. */
#define SHAPE(name)                                                            \
    static void name(void);                                                    \
    __attribute__((constructor)) static void add_##name(void)                  \
    {                                                                          \
        shape_add(#name, name);                                                \
    }                                                                          \
    static void name(void)

/* OBJECT(variable): the record may name it; OBJECT_AT() for memory that is no variable. */
#define OBJECT(variable) recorder_object(#variable, &(variable), sizeof(variable))
#define OBJECT_AT(name, address, size) recorder_object(name, address, size)

/* RESULT(variable): both sides must have computed the same. */
#define RESULT(variable) recorder_result(#variable, &(variable), sizeof(variable))
#define RESULT_AT(name, address, size) recorder_result(name, address, size)

/* FILL(array): 1, 2, 3 ..., and an OBJECT() */
#define FILL(array)                                                            \
    do {                                                                       \
        FILL_N(array, sizeof(array) / sizeof *(array));                        \
        OBJECT(array);                                                         \
    } while (0)
#define FILL_N(array, n)                                                       \
    for (size_t fill_i = 0; fill_i < (n); fill_i++)                            \
    (array)[fill_i] = (__typeof__(*(array)))(fill_i + 1)

#ifdef ORACLE_CLANG
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *memory, int device);
int omp_get_default_device(void);
#define DEVICE_ALLOC(size) omp_target_alloc(size, omp_get_default_device())
#define DEVICE_FREE(memory) omp_target_free(memory, omp_get_default_device())
#else
#define DEVICE_ALLOC(size) (rex_offload_init(), rex_device_alloc(size, -1))
#define DEVICE_FREE(memory) rex_device_free(memory, -1)

/* CHECK(call): a call of librex that must work. */
#define CHECK(call) shape_check((call), #call)
void shape_check(int result, const char *what);

/* LAUNCH(kernel, map): one team of one thread, as a bare target construct. */
#define LAUNCH(kernel, map) LAUNCH_WITH(kernel, map, 0)
#define LAUNCH_WITH(kernel, map, launch_flags)                                 \
    do {                                                                       \
        struct rex_launch_config shape_launch = rex_launch_config_of(REX_KERNEL_ID(kernel), 1, 1); \
        shape_launch.flags = (launch_flags);                                   \
        CHECK(rex_launch(&shape_launch, &(map)));                              \
    } while (0)
#endif

#endif
