/*
 * Kernels by name, in a program that has no entries and no image of its own: loaded, launched in queues and graphs, unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <rex/library.h>

enum { N = 1000 };
static const char images[] = "rex_lib_nvidia.cubin:rex_lib_host.so";
static double numbers[N], *device;
static struct rex_library *library;
static struct rex_queue *queue;

/* With an image in memory, or NULL: in a file. */
static void start(const void *image, size_t size)
{
    assert_int_equal(rex_library_load(&library, -1, image, size, image != NULL ? "generated" : images), 0);
    assert_int_equal(rex_queue_create(&queue, -1, "named", 0), 0);
    device = rex_device_alloc(sizeof numbers, -1);
    assert_non_null(device);
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    assert_int_equal(rex_queue_copy_to(queue, device, numbers, sizeof numbers), 0);
}

static int scale(double factor, double *x)
{
    struct rex_launch_config launch = rex_launch_config_of(rex_library_kernel(library, "scale__kernel__"), 4, 64);
    int32_t n = N;
    void *arguments[] = {&n, &factor, &x};
    return launch_library_in(queue, library, &launch, arguments, 3);
}

static void check(double factor)
{
    assert_int_equal(rex_queue_copy_from(queue, numbers, device, sizeof numbers), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    for (int i = 0; i < N; i++)
        assert_true(numbers[i] == i * factor);
}

#define HAS_ENDED(call)                                                                    \
    do {                                                                                   \
        assert_int_equal(call, REX_EINVAL);                                                \
        assert_non_null(strstr(rex_last_error(), "the library at 0x"));                    \
    } while (0)

/* Each call with the library, which is unloaded, is an error. */
static void refuse_ended(void)
{
    void *address = NULL, *arguments[] = {&address};
    size_t size = 0;
    struct rex_launch_config launch = rex_launch_config_of(&size, 1, 1);
    HAS_ENDED(rex_library_kernel(library, "scale__kernel__") == NULL ? rex_last_error_code() : 0);
    HAS_ENDED(rex_library_view(library) == NULL ? rex_last_error_code() : 0);
    HAS_ENDED(rex_library_global(&address, &size, library, -1, "calls"));
    HAS_ENDED(launch_library_in(queue, library, &launch, arguments, 1));
    HAS_ENDED(rex_library_unload(library));
}

static void end(void)
{
    rex_device_free(device, -1);
    assert_int_equal(rex_queue_destroy(queue), 0);
    assert_int_equal(rex_library_unload(library), 0);
    refuse_ended();
}

TEST(in_a_queue)
{
    start(NULL, 0);
    assert_int_equal(scale(2, device), 0);
    assert_int_equal(scale(1.5, device), 0);
    check(3);
    assert_null(rex_library_kernel(library, "scale__kernle__"));
    assert_int_equal(rex_last_error_code(), REX_ENOKERNEL);
    assert_non_null(strstr(rex_last_error(), "the nearest name in it is \"scale__kernel__\""));
    end();
}

/* A kernel that no table of entries could have, whose arguments are narrower than those of a host
 * image: in a queue, and in a graph. More than 48 KiB of shared memory has to be asked for. */
TEST(of_another_compiler, .gpu = ON_REAL_GPU)
{
    enum { SHARED = 64 * 1024 };
    start(NULL, 0);
    struct rex_graph *graph = NULL;
    int32_t n = N, first = SHARED / sizeof(double) - N, last = N - 1;
    float factor = 2, less = 0.25f;
    void *arguments[] = {&n, &first, &factor, &device, &last};
    struct rex_launch_config launch = rex_launch_config_of(rex_library_kernel(library, "narrow"), 1, 96);
    launch.dynamic_memory = SHARED;
    assert_int_equal(launch_library_in(queue, library, &launch, arguments, 5), 0);
    assert_int_equal(rex_graph_begin(queue), 0);
    assert_int_equal(launch_library_in(queue, library, &launch, arguments, 5), 0);
    assert_int_equal(rex_graph_end(&graph, queue), 0);
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    check(4);
    REX_MAP(other, REX_VALUE(n), REX_VALUE(first), REX_VALUE(less), REX_VALUE(device),
            REX_VALUE(last));
    assert_int_equal(rex_graph_set_args(graph, 0, &other), 0);
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    assert_int_equal(rex_queue_copy_from(queue, numbers, device, sizeof numbers), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    for (int i = 0; i < N; i++)
        assert_true(numbers[i] == N - 1 - i);
    rex_graph_destroy(graph);
    end();
}

/* The signature says what each argument is. */
TEST(against_the_signature)
{
    start(NULL, 0);
    int before = rex_last_error_code();
    assert_int_equal(scale(2, (double *)8), REX_EPARAMS);
    assert_int_not_equal(before, REX_EPARAMS);
    assert_non_null(strstr(rex_last_error(), "kernel \"scale\": map row 2 is 0x8, a number too small for an address, and parameter 2 is a pointer"));
    const struct rex_image_view *view = rex_library_view(library);
    const struct rex_image_symbol *kernel = rex_image_view_find(view, "scale__kernel__");
    assert_int_equal(kernel->parameters - kernel->env, 3);
    assert_int_equal(kernel->parameter[kernel->env].kind, REX_KIND_I32);
    check(1);
    end();
}

TEST(in_a_graph)
{
    start(NULL, 0);
    struct rex_graph *graph = NULL;
    assert_int_equal(rex_graph_begin(queue), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(scale(2, device), 0);
    assert_int_equal(rex_graph_end(&graph, queue), 0);
    check(1);
    /* What a graph has of a library stays. */
    assert_int_equal(rex_library_unload(library), 0);
    refuse_ended();
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    int32_t n = N;
    double half = 0.5;
    REX_MAP(other, REX_VALUE(n), REX_VALUE(half), REX_VALUE(device));
    assert_int_equal(rex_graph_set_args(graph, 1, &other), 0);
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    check(16);
    rex_device_free(device, -1);
    rex_graph_destroy(graph);
    assert_int_equal(rex_queue_destroy(queue), 0);
}

/* On the host nothing is launched, whatever the image is for; a graph keeps the launch. */
TEST(on_the_host)
{
    start(NULL, 0);
    struct rex_queue *own = queue, *host = NULL;
    struct rex_graph *graph = NULL;
    assert_int_equal(rex_queue_create(&host, rex_device_count(), "host", 0), 0);
    queue = host;
    assert_int_equal(scale(2, device), REX_EHOST);
    assert_int_equal(rex_graph_begin(host), 0);
    assert_int_equal(scale(2, device), 0);
    assert_int_equal(rex_graph_end(&graph, host), 0);
    assert_int_equal(rex_graph_launches(graph), 1);
    assert_int_equal(rex_graph_launch(graph, host), REX_EHOST);
    assert_int_equal(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    assert_int_equal(scale(2, device), REX_ENODEVICE);
    assert_int_equal(rex_configure(REX_OPTION_REQUIRE_GPU, "off"), 0);
    rex_graph_destroy(graph);
    queue = own;
    assert_int_equal(rex_queue_destroy(host), 0);
    check(1);
    end();
}

/* From memory, which is the program's again at once. */
TEST(from_memory)
{
    struct bytes image = read_bytes(default_image().text);
    start(image.bytes, image.size);
    memset(image.bytes, 0xee, image.size);
    free(image.bytes);
    assert_int_equal(scale(3, device), 0);
    check(3);
    end();
}

/* Whoever looks, there is one copy of a global. */
TEST(globals)
{
    start(NULL, 0);
    struct rex_launch_config launch = rex_launch_config_of(rex_library_kernel(library, "count_call__kernel__"), 1, 1);
    int64_t by = 2, seen = 0;
    void *arguments[] = {&by}, *address = NULL;
    size_t size = 0;
    assert_int_equal(launch_library_in(queue, library, &launch, arguments, 1), 0);
    assert_int_equal(rex_library_global(&address, &size, library, -1, "calls"), 0);
    assert_int_equal(size, sizeof seen);
    assert_int_equal(rex_queue_copy_from(queue, &seen, address, sizeof seen), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(seen, 42);
    assert_int_equal(rex_library_global(&address, &size, library, rex_device_count(), "calls"), REX_EABSENT);
    assert_int_equal(rex_library_global(&address, &size, library, -1, "cells"), REX_ENOKERNEL);
    end();
}

/* A child of fork has no GPU. */
TEST(globals_in_a_child)
{
    void *address = NULL;
    size_t size = 0;
    int status = -1, expected = gpu_present() ? REX_EFORK : REX_OK;
    start(NULL, 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(rex_library_global(&address, &size, library, -1, "calls") == expected ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end();
}

static void load_late(void)
{
    struct rex_library *late = NULL;
    void *address = NULL;
    size_t size = 0;
    bool right = rex_library_load(&late, -1, NULL, 0, images) == REX_EINVAL && late == NULL &&
                 rex_library_global(&address, &size, library, -1, "calls") == REX_EINVAL;
    _exit(right ? 0 : 1);
}

/* At the end of the process no image is loaded. */
TEST(at_the_end)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (atexit(load_late) != 0)
            _exit(2);
        start(NULL, 0);
        exit(3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* If offloading is disabled, a global is on no device, also one of an image for GPUs. */
TEST(globals_nowhere)
{
    void *address = NULL;
    size_t size = 0;
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    assert_int_equal(rex_library_load(&library, -1, NULL, 0, images), 0);
    assert_int_equal(rex_library_global(&address, &size, library, -1, "calls"), REX_EABSENT);
    assert_int_equal(rex_library_global(&address, &size, library, -1, "cells"), REX_ENOKERNEL);
    assert_int_equal(rex_library_unload(library), 0);
}
