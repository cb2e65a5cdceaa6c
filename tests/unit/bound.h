/* bound.h - a child that is bound to a fake libomptarget. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_UNIT_BOUND_H
#define REX_TESTS_UNIT_BOUND_H

#include <dlfcn.h>

#include "common.h"
#include "fake.h"
#include "rex/device.h"
#include "rex/configure.h"

#define FAKE(file) TEST_BUILD "/tests/fake/" file

static inline void fake_path(int release, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, FAKE("%d/libomptarget.so.%d"), release, release);
}

/*
 * The calling process gets a fake driver, cuda, cuda-old or cuda-ancient, with a GPU of architecture SM (0: none). The name of a loaded
 * library decides: librex opens libcuda.so.1 and gets this one, also on a machine that has a driver.
 */
static inline void use_gpu_of(const char *driver, int sm)
{
    char number[16], path[PATH_MAX];
    snprintf(number, sizeof number, "%d", sm);
    setenv("FAKE_CUDA_SM", number, 1);
    setenv("FAKE_CUDA_DEVICES", sm > 0 ? "1" : "0", 1);
    snprintf(path, sizeof path, FAKE("%s/libcuda.so.1"), driver);
    CHECK(dlopen(path, RTLD_NOW) != NULL);
}

static inline void use_gpu(int sm)
{
    use_gpu_of("cuda", sm);
}

/* librex will bind to the fake of RELEASE. */
static inline void use_release(int release)
{
    char path[PATH_MAX];
    fake_path(release, path);
    unsetenv("OMP_TARGET_OFFLOAD");
    unsetenv("OMP_DEFAULT_DEVICE");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), 0);
}

/* The function at ADDRESS, a pointer of that TYPE. */
#define FUNCTION_AT(address, type) (((union { void *at; __typeof__(type) function; }){address}).function)

/* What the bound fake wrote down. */
static inline struct fake_record *the_record(void)
{
    void *library = dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    return FUNCTION_AT(dlsym(library, "fake_record"), struct fake_record *(*)(void))();
}

/* The last call, which has to be of FUNCTION. */
static inline const struct fake_call *last_call(enum fake_function function)
{
    const struct fake_record *record = the_record();
    CHECK(record->count > 0 && record->count <= FAKE_CALLS);
    const struct fake_call *call = &record->calls[record->count - 1];
    CHECK_EQUAL(call->function, function);
    return call;
}

/* The newest call of FUNCTION. */
static inline const struct fake_call *newest_call(enum fake_function function)
{
    const struct fake_record *record = the_record();
    CHECK(record->count <= FAKE_CALLS);
    for (uint32_t i = record->count; i-- > 0;)
        if (record->calls[i].function == function)
            return &record->calls[i];
    fprintf(stderr, "there is no call %d\n", function);
    _exit(99);
}

/* Something that the fake driver exports. */
static inline void *in_driver(const char *name)
{
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name);
    CHECK(address != NULL);
    return address;
}

/* Its function NAME, a pointer of that TYPE. */
#define DRIVERS(type, name) FUNCTION_AT(in_driver(name), type)

/* How often its function NAME was called, */
static inline int driver_calls(const char *name)
{
    return DRIVERS(int (*)(const char *), "fake_cuda_calls")(name);
}

/* and how many of its objects there are. */
static inline int driver_objects(void)
{
    return *(int *)in_driver("fake_cuda_objects");
}

/* How often the contexts of its devices are kept. */
static inline int context_users(void)
{
    return DRIVERS(int (*)(void), "fake_cuda_context_users")();
}

/* Flags of the first one's, -1 while it is not active. */
static inline int context_flags(void)
{
    int active = 0;
    unsigned flags = 0;
    CHECK_EQUAL(DRIVERS(int (*)(int, unsigned *, int *), "cuDevicePrimaryCtxGetState")(0, &flags, &active), 0);
    return active ? (int)flags : -1;
}

/* Whether this process can use a GPU: 0, or why not. */
static inline int first_gpu(void)
{
    struct rex_gpu gpu;
    return rex_gpu_get(&gpu, sizeof gpu, 0);
}

#endif
