/*
 * races.c - what a thread may ask of a module while another ends it and registers it again. ThreadSanitizer sees what goes wrong here
 * (make tsan K=unit/races); without it, the answers are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "module/adopt.h"
#include "module/modules.h"
#include "omp/flight.h"
#include "rex/entry.h"

#define KERNELS 50

static char keys[KERNELS], names[KERNELS][32];
static struct __tgt_offload_entry entries[KERNELS];
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entries,
                                   .entries_end = entries + KERNELS};

static int stop;
static const char *wrong;

static void *ask(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        rex_module_on_host(&module);
        rex_module_image_path(&module);
        for (int i = 0; i < KERNELS; i++) {
            if (rex_modules_find(&keys[i]) != &module)
                wrong = "a key is in no module";
            /* as a trace asks for it */
            const char *name = rex_kernel_name(&keys[i]);
            if (name != NULL && strcmp(name, names[i]) != 0)
                wrong = "a kernel has another one's name";
        }
    }
    return unused;
}

static void registers_again(const void *context)
{
    enum { THREADS = 3, ROUNDS = 40 };
    pthread_t threads[THREADS];
    const char *images[] = {FAKE("host.so"), "tests/data/sm_90.cubin"};
    (void)context;
    use_gpu(90);
    use_release(16);
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "plain__kernel__");
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
    }
    CHECK(rex_module_register_image(&module, images[0]) != NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK(rex_module_register_image(&module, images[i % 2]) != NULL);
        CHECK_EQUAL(rex_module_on_host(&module), i % 2 == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (wrong != NULL)
        fprintf(stderr, "%s\n", wrong);
    CHECK(wrong == NULL);
}

static void test_registers_again(void **state)
{
    (void)state;
    in_child(registers_again, NULL);
}

/* ---- what is remembered while nobody may launch ------------------------------------------------------------------------------------- */

static int times_forgotten;
static bool is_remembered;

/* A launch that was inside when the others were stopped remembers something, once, after it was asked to forget. */
static void forget(void)
{
    is_remembered = times_forgotten++ == 0;
}

static void remembers_late(const void *context)
{
    use_release(*(const int *)context);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    rex_flight_on_stop(forget);
    CHECK_EQUAL(rex_flight_register("a test"), 0);
    CHECK(times_forgotten > 0 && !is_remembered);
    rex_flight_registered();
}

static void test_remembers_late(void **state)
{
    static const int releases[] = {14, 19, 22};
    (void)state;
    for (size_t i = 0; i < COUNT(releases); i++)
        in_child(remembers_late, &releases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_again),
        cmocka_unit_test(test_remembers_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
