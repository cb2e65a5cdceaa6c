/*
 * Queues and other users of the GPU in one stream: the driver's own calls, and cuBLAS where the
 * machine has it. A stream that librex lends, one that somebody else owns, and the driver's default
 * one. Without a GPU queues have no streams: unit/peers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/interop.h"
#include "runtime/checks.h"

REX_KERNEL(add_slowly);

enum { VALUES = 1000, TURNS = 20000 };
static double *memory; /* on the device */

/* ---- others ---------------------------------------------------------------------------------- */

static struct {
    int (*create_stream)(void **stream, unsigned flags), (*destroy_stream)(void *stream);
    int (*fill)(uint64_t to, unsigned value, size_t count, void *stream);
    int (*push)(void *context), (*pop)(void **context);
} driver;

static struct {
    int (*create)(void **handle), (*destroy)(void *handle),
        (*set_stream)(void *handle, void *stream);
    int (*scale)(void *handle, int n, const double *factor, double *x, int step);
} blas;

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    find(library, "cuStreamCreate", &driver.create_stream);
    find(library, "cuStreamDestroy_v2", &driver.destroy_stream);
    find(library, "cuMemsetD32Async", &driver.fill);
    find(library, "cuCtxPushCurrent_v2", &driver.push);
    find(library, "cuCtxPopCurrent_v2", &driver.pop);
}

static bool open_blas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so", "/usr/local/cuda/lib64/libcublas.so"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    find(library, "cublasCreate_v2", &blas.create);
    find(library, "cublasDestroy_v2", &blas.destroy);
    find(library, "cublasSetStream_v2", &blas.set_stream);
    find(library, "cublasDscal_v2", &blas.scale);
    return true;
}

/* ---- both in turn ---------------------------------------------------------------------------- */

static void put_add(struct rex_queue *queue)
{
    int64_t n = VALUES, turns = TURNS;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(add_slowly), 8, 128);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(turns), REX_IS_DEVICE_PTR(memory));
    OK(launch_in(queue, &launch, &args));
}

static void put_zeros(void *stream, void *context)
{
    void *popped;
    OK(driver.push(context));
    OK(driver.fill((uint64_t)(uintptr_t)memory, 0, 2 * VALUES, stream));
    OK(driver.pop(&popped));
}

static void check_all(struct rex_queue *queue, double expected)
{
    double back[VALUES];
    OK(rex_queue_copy_from(queue, back, memory, sizeof back));
    OK(rex_queue_sync(queue));
    for (int i = 0; i < VALUES; i++)
        assert_true(back[i] == expected);
}

/* Each comes after the other, and the queue waits for what it was not given itself. */
static void take_turns(struct rex_queue *queue, void *stream, void *context)
{
    double back[VALUES];
    for (int i = 0; i < rounds_of(20); i++) {
        put_add(queue);
        put_zeros(stream, context);
        put_add(queue);
        check_all(queue, TURNS);
        put_zeros(stream, context);
        OK(rex_queue_sync(queue));
        assert_int_equal(rex_queue_query(queue), 1);
        OK(rex_device_copy_from(back, memory, sizeof back, -1));
        assert_true(back[0] == 0.0 && back[VALUES - 1] == 0.0);
    }
}

static struct rex_queue *start(void)
{
    struct rex_queue *queue;
    OK(rex_offload_init());
    OK(rex_queue_create(&queue, -1, "own", 0));
    assert_non_null(memory = rex_device_alloc(VALUES * sizeof *memory, -1));
    if (gpu_present())
        open_driver();
    return queue;
}

static void finish(struct rex_queue *queue)
{
    OK(rex_queue_destroy(queue));
    rex_device_free(memory, -1);
    OK(rex_offload_fini());
}

TEST(lent, .gpu = ON_GPU)
{
    void *stream = NULL, *context = NULL;
    struct rex_queue *queue = start();
    OK(rex_queue_stream(queue, &stream, &context));
    take_turns(queue, stream, context);
    finish(queue);
}

TEST(theirs, .gpu = ON_GPU)
{
    void *stream = NULL, *context = NULL, *unused;
    struct rex_queue *made = NULL;
    struct rex_queue *queue = start();
    OK(rex_queue_stream(queue, &unused, &context));
    OK(driver.push(context));
    OK(driver.create_stream(&stream, 1));
    OK(driver.pop(&unused));
    OK(rex_queue_from_stream(&made, -1, stream, "theirs", 0));
    take_turns(made, stream, context);
    OK(rex_queue_destroy(made));
    put_zeros(stream, context);
    OK(driver.destroy_stream(stream));
    finish(queue);
}

/* The one that programs of the CUDA runtime use where they name none. */
TEST(default_stream)
{
    void *unused, *context = NULL;
    struct rex_queue *made;
    struct rex_queue *queue = start();
    OK(rex_queue_from_stream(&made, -1, NULL, "default", 0));
    assert_int_equal(rex_queue_is_synchronous(made), !gpu_present());
    if (gpu_present()) {
        OK(rex_queue_stream(queue, &unused, &context));
        take_turns(made, NULL, context);
    }
    double zeros[VALUES] = {0};
    OK(rex_queue_copy_to(made, memory, zeros, sizeof zeros));
    put_add(made);
    check_all(made, TURNS);
    OK(rex_queue_destroy(made));
    finish(queue);
}

TEST(cublas, .gpu = ON_REAL_GPU)
{
    void *stream = NULL, *context = NULL, *handle = NULL, *unused;
    double two = 2.0;
    if (!open_blas())
        leave_out("cuBLAS beside queues: the machine has no cuBLAS");
    struct rex_queue *queue = start();
    OK(rex_queue_stream(queue, &stream, &context));
    OK(driver.push(context));
    OK(blas.create(&handle));
    OK(blas.set_stream(handle, stream));
    for (int i = 0; i < rounds_of(20); i++) {
        put_zeros(stream, context);
        put_add(queue);
        OK(blas.scale(handle, VALUES, &two, memory, 1));
        put_add(queue);
        check_all(queue, 3 * (double)TURNS);
    }
    OK(blas.destroy(handle));
    OK(driver.pop(&unused));
    finish(queue);
}
