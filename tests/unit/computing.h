/*
 * computing.h - a fake GPU that computes: device memory, kernels that are functions of the test, and who launched.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_COMPUTING_H
#define REX_TESTS_UNIT_COMPUTING_H

#include "bound.h"

/* Bytes of device memory that are allocated, and users of contexts. */
static inline size_t device_bytes(void)
{
    return DRIVERS(size_t (*)(void), "fake_cuda_allocated")();
}

/* Where the fake has SIZE bytes of device memory at ADDRESS. */
static inline void *at_device(uint64_t address, size_t size)
{
    return DRIVERS(void *(*)(uint64_t, size_t), "fake_cuda_memory")(address, size);
}

static inline uint64_t word(void *const *parameters, size_t i)
{
    return *(const uint64_t *)parameters[i];
}

/* From now on KERNEL computes what FUNCTION does, with COUNT parameters of so many bytes. */
static inline void name_kernel(const char *kernel, void (*function)(const unsigned *, const unsigned *, void **), size_t count,
                               const size_t *widths_of)
{
    DRIVERS(void (*)(const char *, __typeof__(function), size_t, const size_t *), "fake_cuda_kernel")(kernel, function, count, widths_of);
}

/* Launches that libomptarget got. */
static inline uint32_t by_runtime(void)
{
    return the_record()->counts[FAKE_KERNEL] + the_record()->counts[FAKE_TEAMS_MAPPER];
}

/* SIZE bytes at HOST are mapped, to new memory of the fake's. */
static inline uint64_t map_on_device(int slot, const void *host, size_t size)
{
    uint64_t device = (uintptr_t)rex_device_alloc(size, 0);
    CHECK(device != 0);
    the_record()->mappings[slot] = (struct fake_mapping){(uintptr_t)host, size, device};
    return device;
}

/* That many computed, and as many went to libomptarget. */
static int computed;
static inline void expect_sent(int launches, uint32_t others)
{
    CHECK_EQUAL(computed, launches);
    CHECK_EQUAL(by_runtime(), others);
}

/* The GPU with 128 MiB, and libomptarget of RELEASE; ORDER: early or late, as the driver does what is in a stream. */
static inline void use_computing_gpu(int release, const char *order)
{
    setenv("FAKE_CUDA_MEMORY", "128", 1);
    setenv("FAKE_CUDA_ORDER", order, 1);
    use_gpu(90);
    use_release(release);
}

#endif
