/*
 * Which of libomptarget's devices is which GPU, with two modules registered, in either order: this program's own, for the GPU where there
 * is one, and one for the CPU. Both at a time where both are for the CPU; where there is a GPU the second is refused, since libomptarget
 * would end the process.
 */
#include "runtime/runtime.h"

REX_KERNEL(square);

/* A second module, with a host image whatever else there is. */
static char other_key;
static char other_name[] = "square__kernel__";
static struct __tgt_offload_entry other_entries[] = {{&other_key, other_name, 0, 0, 0}};
static struct rex_module other = {
    .struct_size = sizeof other, .entries_begin = other_entries, .entries_end = other_entries + 1, .host_image_name = REX_HOST_IMAGE_NAME};

static int64_t launch(struct rex_module *module, int device, void *key)
{
    int64_t value = 12, result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_module_launch(module, device, 1, 1, key, &packet), 0);
    return result;
}

static bool gpu_is_here(void)
{
    return rex_gpu_count() > 0;
}

/* Each GPU is one device at most; a kernel of MODULE runs on every device of its image's kind. */
static void check_devices(struct rex_module *module, void *key)
{
    int count = rex_device_count(), gpus = 0;
    bool seen[64] = {false};
    for (int device = 0; device < count; device++) {
        int gpu = rex_device_gpu(device);
        if (gpu >= 0) {
            assert_in_range(gpu, 0, rex_gpu_count() - 1);
            assert_false(seen[gpu]);
            seen[gpu] = true;
            gpus++;
        } else
            assert_int_equal(gpu, REX_ENODEVICE);
        if ((gpu < 0) == rex_module_on_host(module))
            assert_int_equal(launch(module, device, key), 144);
    }
    assert_true(rex_module_on_host(module) ? gpus < count : gpus > 0);
    assert_int_equal(rex_device_gpu(count), REX_ENODEVICE);
    assert_int_equal(rex_device_gpu(count + 1), REX_EDEVICE);
    printf("%d devices, %d of them GPUs\n", count, gpus);
}

/* MODULE is registered: the other one can be beside it if its image is for the same kind of device. */
static void check_second(struct rex_module *module, struct rex_module *second, void *key)
{
    if (!gpu_is_here()) {
        assert_int_equal(rex_module_register(second, NULL), 0);
        check_devices(second, key);
        return;
    }
    assert_int_equal(rex_module_register(second, NULL), REX_EUNSUPPORTED);
    assert_non_null(strstr(rex_last_error(), rex_module_image_path(module)));
    assert_non_null(strstr(rex_last_error(), second == &other ? REX_HOST_IMAGE_NAME " is for the CPU" : REX_CUBIN_NAME " is for a GPU"));
    check_devices(module, module == &other ? (void *)&other_key : REX_KERNEL_ID(square));
    /* Each when the other is gone. */
    assert_int_equal(rex_module_fini(module), 0);
    assert_int_equal(rex_module_register(second, NULL), loads_late() ? 0 : REX_EUNSUPPORTED);
    assert_int_equal(rex_module_fini(second), 0);
    assert_int_equal(rex_module_register(module, NULL), 0);
}

TEST(own_image_first)
{
    assert_int_equal(rex_device_gpu(0), REX_EDEVICE);
    assert_int_equal(rex_module_register(&rex_this_module, NULL), 0);
    assert_int_equal(rex_module_on_host(&rex_this_module), !gpu_is_here());
    check_second(&rex_this_module, &other, &other_key);
    check_devices(&rex_this_module, REX_KERNEL_ID(square));
}

TEST(host_image_first)
{
    assert_int_equal(rex_module_register(&other, NULL), 0);
    assert_true(rex_module_on_host(&other));
    check_second(&other, &rex_this_module, REX_KERNEL_ID(square));
    check_devices(&other, &other_key);
}

/* What the driver says of a GPU makes sense. */
TEST(described)
{
    struct rex_gpu gpu;
    int count = rex_gpu_count();
    for (int i = 0; i < count; i++) {
        assert_int_equal(rex_gpu_get(&gpu, sizeof gpu, i), 0);
        assert_true(strlen(gpu.name) > 0 && gpu.capability_major >= 3 && gpu.multiprocessors > 0 && gpu.memory >> 28 > 0);
        assert_true(gpu.driver >= 11000 && gpu.threads_per_block >= 512 && gpu.shared_memory >= 48 << 10);
        printf("%d: %s, %d.%d\n", i, gpu.name, gpu.capability_major, gpu.capability_minor);
    }
    assert_int_equal(rex_gpu_get(&gpu, sizeof gpu, count), REX_EDEVICE);
}
