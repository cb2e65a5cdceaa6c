/*
 * stack.c - what a thread needs of its stack. Its program has no sanitizer.
 *
 * libomptarget is a fake, which launches nothing; the driver is a fake with memory, whose kernels are functions of the test.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <pthread.h>

#include "inqueue.h"
#include "rex_kmp.h"
#include "rex/launch.h"
#include "rex/queue.h"
#include "stateless.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_LARGE_FRAMES true
#else
#define HAS_LARGE_FRAMES false
#endif

enum { CELLS = 1000 };
static uint64_t x[CELLS], y[CELLS];

static void count(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    computed++;
}

static int launch_axpy(void)
{
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(UINT64_C(1)), REX_VALUE(UINT64_C(1)), REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    return rex_module_launch_map(&module, &launch, &args);
}

/* From binding to the end of a module, with kernels, regions and queues; the fakes take little themselves. */
static void *use_all(void *unused)
{
    uint64_t n = 0, *nowhere = NULL;
    struct rex_queue *queue;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(values, REX_VALUE(n), REX_VALUE(n), REX_VALUE(nowhere), REX_VALUE(nowhere));
    REX_MAP(region, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "small", 0, NULL), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &values), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    CHECK(rex_module_register(NULL, NULL) == REX_EINVAL);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    return unused;
}

/* 32 KiB are enough, and what a thread needs anyway; beyond the stack lies a page that nobody may touch. */
TEST_IN_CHILD(use_little_stack)
{
    static const size_t words[] = {8, 8, 8, 8};
    pthread_t thread;
    pthread_attr_t attributes;
    use_computing_gpu(22, "late");
    name_kernel("axpy__kernel__", count, 4, words);
    CHECK_EQUAL(pthread_attr_init(&attributes), 0);
    CHECK_EQUAL(pthread_attr_setstacksize(&attributes, (32 << 10) + (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    CHECK_EQUAL(pthread_create(&thread, HAS_LARGE_FRAMES ? NULL : &attributes, use_all, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(computed > 0);
}
