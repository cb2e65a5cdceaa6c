/*
 * Which of libomptarget's devices is which GPU, with images of two kinds registered: this program's own, for the GPU where there is one, and
 * one for the CPU, in either order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
    struct rows rows = {0};
    add_literal(&rows, &value, sizeof value);
    add_row(&rows, &result, sizeof result, PARAMETER | FROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_module_launch(module, device, 1, 1, key, &packet), 0);
    return result;
}

/* Each GPU is one device at most; a kernel runs on every device of its image's kind. */
static void check_devices(void)
{
    int count = rex_device_count(), on_gpu = !rex_module_on_host(&rex_this_module), gpus = 0;
    bool seen[64] = {false};
    for (int device = 0; device < count; device++) {
        int gpu = rex_device_gpu(device);
        if (gpu < 0) {
            assert_int_equal(gpu, REX_ENODEVICE);
            assert_int_equal(launch(&other, device, &other_key), 144);
            continue;
        }
        assert_in_range(gpu, 0, rex_gpu_count() - 1);
        assert_false(seen[gpu]);
        seen[gpu] = true;
        gpus++;
        assert_int_equal(launch(&rex_this_module, device, REX_KERNEL_ID(square)), 144);
    }
    assert_true(on_gpu ? gpus > 0 : gpus == 0);
    assert_true(gpus < count);
    assert_int_equal(rex_device_gpu(count), REX_ENODEVICE);
    assert_int_equal(rex_device_gpu(count + 1), REX_EDEVICE);
    printf("%d devices, %d of them GPUs\n", count, gpus);
}

static void own_image_first(void **state)
{
    (void)state;
    assert_int_equal(rex_device_gpu(0), REX_EDEVICE);
    assert_int_equal(rex_module_register(&rex_this_module), 0);
    assert_int_equal(rex_module_register(&other), 0);
    assert_true(rex_module_on_host(&other));
    check_devices();
}

static void host_image_first(void **state)
{
    (void)state;
    assert_int_equal(rex_module_register(&other), 0);
    assert_int_equal(rex_module_register(&rex_this_module), 0);
    check_devices();
}

/* What the driver says of a GPU makes sense. */
static void described(void **state)
{
    struct rex_gpu gpu;
    (void)state;
    int count = rex_gpu_count();
    for (int i = 0; i < count; i++) {
        assert_int_equal(rex_gpu_get(i, &gpu, sizeof gpu), 0);
        assert_true(strlen(gpu.name) > 0 && gpu.capability_major >= 3 && gpu.multiprocessors > 0 && gpu.memory >> 28 > 0);
        assert_true(gpu.driver >= 11000 && gpu.threads_per_block >= 512 && gpu.shared_memory >= 48 << 10);
        printf("%d: %s, %d.%d\n", i, gpu.name, gpu.capability_major, gpu.capability_minor);
    }
    assert_int_equal(rex_gpu_get(count, &gpu, sizeof gpu), REX_EDEVICE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_image_first),
        cmocka_unit_test(host_image_first),
        cmocka_unit_test(described),
    };
    return RUN_EACH(argc, argv, tests);
}
