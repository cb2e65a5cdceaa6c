/*
 * device.c - the GPUs as the driver describes them, which of libomptarget's devices they are, and why there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex/info.h"

static void one_gpu(const void *context)
{
    struct rex_gpu gpu, untouched;
    (void)context;
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_gpu_get(0, &gpu, sizeof gpu), 0);
    CHECK(strcmp(gpu.name, "Fake GPU 0") == 0);
    CHECK_EQUAL(gpu.capability_major, 9);
    CHECK_EQUAL(gpu.capability_minor, 0);
    CHECK_EQUAL(gpu.multiprocessors, 132);
    CHECK_EQUAL(gpu.threads_per_block, 1024);
    CHECK_EQUAL(gpu.shared_memory, 232448);
    CHECK_EQUAL(gpu.memory, (uint64_t)80 << 30);
    CHECK_EQUAL(gpu.driver, 13000);
    CHECK_EQUAL(gpu.reserved, 0);

    memset(&gpu, 0x5a, sizeof gpu);
    untouched = gpu;
    CHECK_EQUAL(rex_gpu_get(1, &gpu, sizeof gpu), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "GPU 1: there are 1 GPUs");
    CHECK_EQUAL(rex_gpu_get(-1, &gpu, sizeof gpu), REX_EDEVICE);
    CHECK_EQUAL(rex_gpu_get(0, &gpu, sizeof gpu + 1), REX_EINVAL);
    CHECK_EQUAL(rex_gpu_get(0, &gpu, 0), REX_EINVAL);
    CHECK_EQUAL(rex_gpu_get(0, NULL, sizeof gpu), REX_EINVAL);
    CHECK(memcmp(&gpu, &untouched, sizeof gpu) == 0);

    /* A program that was compiled with a smaller struct gets that much. */
    CHECK_EQUAL(rex_gpu_get(0, &gpu, sizeof gpu.name), 0);
    CHECK_EQUAL(gpu.capability_major, 0x5a5a5a5a);
}

static void no_gpu(const void *context)
{
    struct rex_gpu gpu;
    (void)context;
    use_gpu(0);
    CHECK_EQUAL(rex_gpu_count(), 0);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: the CUDA driver reports no device");
    CHECK_EQUAL(rex_gpu_get(0, &gpu, sizeof gpu), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "reports no device");
}

static void no_permission(const void *context)
{
    (void)context;
    setenv("FAKE_CUDA_FAILS", "800", 1);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 0);
    CHECK_MENTIONS(rex_last_error(), "cuInit: CUDA_ERROR_NOT_PERMITTED");
}

static void before_a_registration(const void *context)
{
    (void)context;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_device_gpu(0), REX_EDEVICE);
    CHECK_EQUAL(rex_device_gpu(-1), REX_EDEVICE);
    CHECK_EQUAL(rex_info(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(rex_runtime_release(), 0);
}

static void test_gpus(void **state)
{
    (void)state;
    in_child(one_gpu, NULL);
    in_child(no_gpu, NULL);
    in_child(no_permission, NULL);
    in_child(before_a_registration, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
