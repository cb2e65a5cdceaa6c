/*
 * registration.c - what the registration of an image with a thousand kernels is made of, in
 * microseconds: librex itself, the context, libomptarget, and loading the image.
 *
 * The parts are told apart from within: the linker wraps the library's own functions (-Wl,--wrap).
 * Finding and binding libomptarget comes before and is not counted. Prints lines METRIC VALUE,
 * medians of REPETITIONS registrations after one that is not counted; the context is made in the
 * first.
 *
 * usage: registration CUBIN [REPETITIONS]
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/context.h"
#include "omp/forward.h"
#include "module/moduleimage.h"
#include "module/registration.h"
#include "omp/runtime.h"

enum { KERNELS = 1000, MOST_REPETITIONS = 99, NAME = 32 };

enum part { CONTEXT, RUNTIME, ALL, LOAD, PARTS };
static double spent[PARTS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

#define TIMED(part, call)                                                                          \
    do {                                                                                           \
        double began_ = now();                                                                     \
        call;                                                                                      \
        spent[part] += now() - began_;                                                             \
    } while (0)

#define WRAPPED(name) __real_##name
#define WRAPPER(name) __wrap_##name

void WRAPPED(rex_context_activate)(unsigned architecture);
void WRAPPER(rex_context_activate)(unsigned architecture);
void WRAPPER(rex_context_activate)(unsigned architecture)
{
    TIMED(CONTEXT, WRAPPED(rex_context_activate)(architecture));
}

int WRAPPED(rex_devices_ask)(void);
int WRAPPER(rex_devices_ask)(void);
int WRAPPER(rex_devices_ask)(void)
{
    int result;
    TIMED(RUNTIME, result = WRAPPED(rex_devices_ask)());
    return result;
}

static void (*real_register)(struct __tgt_bin_desc *descriptor);

static void register_timed(struct __tgt_bin_desc *descriptor)
{
    TIMED(RUNTIME, real_register(descriptor));
}

/* ---- one registration ------------------------------------------------------------------------ */

static char keys[KERNELS], names[KERNELS][NAME];
static struct __tgt_offload_entry entries[KERNELS];
static struct rex_module module = {
    .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + KERNELS};

static void describe(const char *image)
{
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "bench_%d__kernel__", i);
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
    }
    module.image_name = image;
}

/* 0 or an error. */
static int register_once(void)
{
    int result;
    for (int i = 0; i < PARTS; i++)
        spent[i] = 0;
    TIMED(ALL, result = rex_module_register(&module, NULL));
    if (result == 0)
        TIMED(LOAD, result = rex_module_init(&module));
    return result == 0 ? rex_module_fini(&module) : result;
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    static double took[PARTS][MOST_REPETITIONS];
    int repetitions = argc > 2 ? atoi(argv[2]) : 5;
    if (argc < 2 || repetitions < 1 || repetitions > MOST_REPETITIONS)
        return 2;
    describe(argv[1]);
    if (rex_runtime_bind() != 0)
        return 1;
    real_register = rex_real.register_lib;
    rex_real.register_lib = register_timed;
    if (register_once() != 0)
        return 1;
    double context = spent[CONTEXT];
    for (int i = 0; i < repetitions; i++) {
        if (register_once() != 0)
            return 1;
        for (int part = 0; part < PARTS; part++)
            took[part][i] = spent[part];
    }
    double median[PARTS];
    for (int part = 0; part < PARTS; part++) {
        qsort(took[part], (size_t)repetitions, sizeof *took[part], by_value);
        median[part] = took[part][repetitions / 2];
    }
    printf("registration_librex %.1f\nregistration_context %.1f\n",
           median[ALL] - median[CONTEXT] - median[RUNTIME], context);
    printf("registration_libomptarget %.1f\nregistration_load %.1f\n", median[RUNTIME],
           median[LOAD]);
    return 0;
}
