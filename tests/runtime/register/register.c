/*
 * Registration by name and without, eager and lazy; its end, and what comes after.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(add);

static int add_by(int (*launch)(int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *), int64_t amount, int64_t *sum)
{
    struct rows rows = {0};
    add_literal(&rows, &amount, sizeof amount);
    add_row(&rows, sum, sizeof *sum, PARAMETER | TOFROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 2, 32);
    return launch(-1, 2, 32, REX_KERNEL_ID(add), &packet);
}

static void check_launch(void)
{
    int64_t sum = 40;
    assert_int_equal(add_by(rex_direct___tgt_target_kernel, 2, &sum), 0);
    assert_int_equal(sum, 42);
    assert_int_equal(add_by(rex___tgt_target_kernel, 58, &sum), 0);
    assert_int_equal(sum, 100);
}

static void check_registered(const char *image)
{
    struct rex_module *module = &rex_this_module;
    assert_non_null(__cubin_desc);
    assert_int_equal(__cubin_desc->NumDeviceImages, 1);
    assert_true(__cubin_desc->DeviceImages->ImageEnd > __cubin_desc->DeviceImages->ImageStart);
    assert_true(__cubin_desc->HostEntriesEnd - __cubin_desc->HostEntriesBegin >= 1);
    assert_string_equal(rex_module_image_path(module), image);
    assert_true(rex_device_count() >= 1);
    assert_int_equal(rex_module_on_host(module), !gpu_present());
}

static void check_not_registered(void)
{
    assert_null(__cubin_desc);
    assert_string_equal(rex_module_image_path(&rex_this_module), "");
    assert_int_equal(rex_device_count(), 0);
    assert_int_equal(rex_module_on_host(&rex_this_module), 0);
}

/* The default names are what the compiler's output relies on. */
TEST(default_name)
{
    assert_string_equal(REX_CUBIN_NAME, "rex_lib_nvidia.cubin");
    assert_string_equal(rex_this_module.image_name, REX_CUBIN_NAME);
    check_not_registered();
    assert_int_equal(rex_offload_fini(), 0); /* before any init: nothing */
    assert_int_equal(rex_offload_init(), 0);
    check_registered(default_image().text);
    check_launch();
}

/* The module's own name, however it is spelt, is the same as none, whatever image it is for. One
 * that is registered stays, whatever name is asked for. */
TEST(own_name)
{
    static const char *const names[] = {NULL, REX_CUBIN_NAME, ".//./" REX_CUBIN_NAME};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct __tgt_bin_desc *descriptor = register_cubin(names[i]);
        assert_non_null(descriptor);
        assert_ptr_equal(register_cubin("/nowhere/else.cubin"), descriptor);
        assert_int_equal(rex_offload_init(), 0);
        assert_ptr_equal(__cubin_desc, descriptor);
        check_registered(default_image().text);
        check_launch();
        assert_int_equal(rex_offload_fini(), 0);
        assert_int_equal(rex_offload_fini(), 0);
        check_not_registered();
    }
    assert_null(register_cubin("/" REX_CUBIN_NAME));
}

TEST(another_name)
{
    struct path copy = temporary_file("renamed");
    copy_file(default_image().text, copy.text);
    struct __tgt_bin_desc *descriptor = register_cubin(copy.text);
    assert_non_null(descriptor);
    assert_ptr_equal(descriptor, __cubin_desc);
    check_registered(copy.text);
    check_launch();
    unlink(copy.text);
}

TEST(init_loads_the_image)
{
    assert_null(getenv("REX_TEST_LOADED"));
    assert_int_equal(rex_offload_init(), 0);
    if (rex_module_on_host(&rex_this_module))
        assert_non_null(getenv("REX_TEST_LOADED"));
    check_launch();
}

/* That register_cubin() does not load shows that the test above can fail. */
TEST(register_alone_does_not_load)
{
    assert_non_null(register_cubin(NULL));
    assert_null(getenv("REX_TEST_LOADED"));
    check_launch();
    if (rex_module_on_host(&rex_this_module))
        assert_non_null(getenv("REX_TEST_LOADED"));
}

/* Either wrapper registers, also what has been ended. */
TEST(lazy_launch_registers)
{
    static int (*const launches[])(int64_t, int32_t, int32_t, void *,
                                   struct __tgt_kernel_arguments *) = {
        rex___tgt_target_kernel, rex_direct___tgt_target_kernel, rex___tgt_target_kernel};
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        int64_t sum = 0;
        check_not_registered();
        assert_int_equal(add_by(launches[i], 3, &sum), 0);
        assert_int_equal(sum, 3);
        check_registered(default_image().text);
        assert_int_equal(rex_offload_fini(), 0);
    }
}

static void break_driver(const char *call)
{
    if (gpu_is_real())
        leave_out("no memory for an image: the fake driver alone has too little");
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    setenv("FAKE_CUDA_BREAKS", call, 1);
}

static void check_no_memory(int result, const char *words)
{
    assert_int_equal(result, REX_ENOMEM);
    assert_non_null(strstr(rex_last_error(), words));
}

/* libomptarget would end the process. */
TEST(no_memory_for_image, .gpu = ON_GPU)
{
    static const char words[] = "cannot be loaded on GPU 0, which has little memory left: cuModuleLoadData";
    static int64_t data[10];
    REX_MAP(map, REX_TOFROM(data, 10));
    break_driver("cuModuleLoadData:2:0");
    check_no_memory(rex_data_enter(-1, &map), words);
    check_no_memory(rex_offload_init(), words);
    unsetenv("FAKE_CUDA_BREAKS");
    check_launch();
    assert_int_equal(rex_offload_fini(), 0);
}

TEST(no_memory_for_context, .gpu = ON_GPU)
{
    break_driver("cuDevicePrimaryCtxRetain:2:0");
    check_no_memory(rex_offload_init(), "GPU 0 has too little memory for a context: cuDevicePrimaryCtxRetain");
}

/* LLVM 19 and later crash if they are asked about memory then. */
TEST(queue_after_the_end)
{
    static int64_t sum = 0;
    struct rex_queue *queue = NULL;
    struct rex_graph *graph = NULL;
    REX_MAP(region, REX_TOFROM(&sum, 1));
    REX_MAP(map, REX_VALUE((int64_t)2), REX_ALLOC(&sum, 1));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    assert_int_equal(rex_queue_create(&queue, -1, "queue", 0), 0);
    assert_int_equal(rex_data_enter(-1, &region), 0);
    launch.queue = queue;
    assert_int_equal(rex_graph_begin(queue), 0);
    assert_int_equal(rex_launch(&launch, &map), 0);
    assert_int_equal(rex_graph_end(&graph, queue), 0);
    assert_int_equal(rex_graph_launch(graph, queue), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(rex_data_exit(-1, &region), 0);
    assert_int_equal(sum, 2);
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(rex_queue_update(queue, &region), REX_EABSENT);
    assert_int_not_equal(rex_graph_launch(graph, queue), 0);
    rex_graph_destroy(graph);
    assert_int_equal(rex_queue_destroy(queue), 0);
    assert_int_equal(sum, 2);
}
