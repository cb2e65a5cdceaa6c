/*
 * local.c - the device that a process of a parallel job should use, and what happens where a GPU is required.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex/device.h"
#include "rex/entry.h"
#include "rex/inspect.h"
#include "rex/launch.h"
#include "rex/queue.h"

static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MVP_COMM_WORLD_LOCAL_RANK",
                                        "MV2_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID",
                                        "PALS_LOCAL_RANKID",
                                        "PMI_LOCAL_RANK",
                                        "FLUX_TASK_LOCAL_ID",
                                        "PMIX_LOCAL_RANK",
                                        "SLURM_LOCALID",
                                        "PMIX_RANK"};

/* No launcher has started this process, and it sees so many GPUs. */
static void use_gpus(const char *count)
{
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    unsetenv("OMP_DEFAULT_DEVICE");
    unsetenv("OMP_TARGET_OFFLOAD");
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", count, 1);
}

/* ---- the rank ------------------------------------------------------------------------------------------------------ */

/* What is no number is no rank; with 64 GPUs each rank below has one of its own. */
TEST_IN_CHILD(numbers)
{
    static const char *const none[] = {"", "-1", "+1", " 1", "1 ", "1,2", "0x1", "all", "2147483648", "99999999999999999999"};
    use_gpus("64");
    for (size_t i = 0; i < COUNT(none); i++) {
        setenv("PMIX_RANK", none[i], 1);
        CHECK_EQUAL(rex_device_for_rank(), 0);
    }
    setenv("PMIX_RANK", "2147483647", 1);
    CHECK_EQUAL(rex_device_for_rank(), 63);
}

/* Each variable alone, and one that comes earlier in the list before all that follow. */
TEST_IN_CHILD(ranks)
{
    char text[16];
    use_gpus("64");
    for (size_t i = 0; i < COUNT(variables); i++) {
        snprintf(text, sizeof text, "%zu", 10 + i);
        setenv(variables[i], text, 1);
        CHECK_EQUAL(rex_device_for_rank(), 10 + (int)i);
        unsetenv(variables[i]);
    }
    for (size_t i = COUNT(variables); i-- > 0;) {
        snprintf(text, sizeof text, "%zu", i);
        setenv(variables[i], text, 1);
        CHECK_EQUAL(rex_device_for_rank(), (int)i);
    }
    setenv(variables[0], "none", 1);
    CHECK_EQUAL(rex_device_for_rank(), 1);
}

/* ---- the device ---------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(in_turn)
{
    char text[16];
    use_gpus("4");
    CHECK_EQUAL(rex_device_for_rank(), 0);
    for (int rank = 0; rank < 10; rank++) {
        snprintf(text, sizeof text, "%d", rank);
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", text, 1);
        CHECK_EQUAL(rex_device_for_rank(), rank % 4);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(((int *)in_driver("fake_cuda_starts"))[i], 0);
    setenv("OMP_DEFAULT_DEVICE", "2", 1);
    CHECK_EQUAL(rex_device_for_rank(), 2);
    setenv("OMP_DEFAULT_DEVICE", "any", 1);
    CHECK_EQUAL(rex_device_for_rank(), 9 % 4);
}

static void ask_with_traits(const void *unused)
{
    (void)unused;
    use_gpus("4");
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3", 1);
    setenv("OMP_DEFAULT_DEVICE", "kind(gpu)", 1);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_device_for_rank(), 3);
}

/* A value that is no number is named, once. */
TEST(test_traits)
{
    const char *output = in_child(ask_with_traits, NULL);
    assert_int_equal(occurrences(output, "rex_device_for_rank() ignores OMP_DEFAULT_DEVICE=kind(gpu)"), 1);
}

TEST_IN_CHILD(no_gpu)
{
    use_gpus("0");
    setenv("FLUX_TASK_LOCAL_ID", "3", 1);
    CHECK_EQUAL(rex_device_for_rank(), 0);
    /* To have none is no error, unless a program asks why. */
    CHECK_EQUAL(rex_gpu_count(), 0);
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK_EQUAL(first_gpu(), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: the CUDA driver reports no device");
    setenv("REX_REQUIRE_GPU", "1", 1);
    CHECK_EQUAL(rex_device_for_rank(), REX_ENODEVICE);
    CHECK_MENTIONS(rex_last_error(), "REX_REQUIRE_GPU is on, and this process has no NVIDIA GPU: the CUDA driver reports no device");
    /* A launcher that gives each process a GPU of its own, as Slurm can, leaves no choice; the GPU may come late. */
    setenv("FAKE_CUDA_DEVICES", "1", 1);
    CHECK_EQUAL(rex_device_for_rank(), 0);
}

/* ---- a GPU that is required ---------------------------------------------------------------------------------------- */

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin",
                                   .host_image_name = "/nowhere/host.so"};

static void refused(const char *reason)
{
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
    CHECK_MENTIONS(rex_last_error(), reason);
}

static void require(const char *gpus)
{
    use_gpus(gpus);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
}

/* The host image is not even looked for; with the setting off it is what is missed. */
TEST_IN_CHILD(without_gpu)
{
    require("0");
    refused("REX_REQUIRE_GPU is on, and this process has no NVIDIA GPU: the CUDA driver reports no device");
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, NULL), 0);
    refused("device image tests/data/sm_90.cubin is for an NVIDIA GPU (sm_90), and this process has none");
}

TEST_IN_CHILD(disabled)
{
    require("1");
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    refused("REX_REQUIRE_GPU is on, and OMP_TARGET_OFFLOAD disables offloading");
}

TEST_IN_CHILD(host_image)
{
    require("1");
    module.image_name = FAKE("host.so");
    refused("is for the host, and REX_REQUIRE_GPU is on");
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "off"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
}
