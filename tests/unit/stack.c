/*
 * stack.c - threads of little stack: what librex takes of it, from binding to the end of a module, with kernels, regions and queues.
 *
 * The driver and libomptarget are fakes, which take little themselves. A stack is filled with one byte, and looked at afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <pthread.h>
#include <sys/mman.h>

#include "inqueue.h"
#include "rex.h"
#include "rex/library.h"
#include "rex/queue.h"

enum { STACK = 1 << 20, MOST = 32 << 10, CELLS = 100, FILLED = 0xa5 };

static char axpy_id;
static struct __tgt_offload_entry entry[] = {{&axpy_id, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1};
static uint64_t x[CELLS], y[CELLS];

static void nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
}

static void *use_all(void *unused)
{
    uint64_t n = CELLS, a = 2, *nowhere = NULL;
    struct rex_queue *queue;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    REX_MAP(values, REX_VALUE(n), REX_VALUE(a), REX_VALUE(nowhere), REX_VALUE(nowhere));
    REX_MAP(region, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "small", 0, NULL), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &values), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    CHECK(rex_module_register(NULL, NULL) == REX_EINVAL);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    return unused;
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* Bytes of stack that a thread which runs BODY has written to. */
static size_t depth_of(void *(*body)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t free_bytes = 0;
    CHECK(stack != MAP_FAILED);
    memset(stack, FILLED, STACK);
    CHECK_EQUAL(pthread_attr_init(&attributes), 0);
    CHECK_EQUAL(pthread_attr_setstack(&attributes, stack, STACK), 0);
    CHECK_EQUAL(pthread_create(&thread, &attributes, body, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    while (free_bytes < STACK && stack[free_bytes] == FILLED)
        free_bytes++;
    munmap(stack, STACK);
    pthread_attr_destroy(&attributes);
    return STACK - free_bytes;
}

static void use_little(const void *unused)
{
    static const size_t words[] = {8, 8, 8, 8};
    (void)unused;
    use_computing_gpu(22, "late");
    name_kernel("axpy__kernel__", nothing, 4, words);
    module.image_name = "tests/data/stateless_sm_90.cubin";
    size_t least = depth_of(do_nothing), depth = depth_of(use_all) - least;
    CHECK(depth > 1000 && depth <= MOST);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_LARGE_FRAMES true
#else
#define HAS_LARGE_FRAMES false
#endif

TEST(test_stack)
{
    if (HAS_LARGE_FRAMES)
        puts("left out: the depth of the stack, of which a sanitizer needs more");
    else
        in_child(use_little, NULL);
}
