/*
 * fakedevice.c - the fake CUDA driver where it has device memory: what is put in a stream is done, in order, at once or as late as can be.
 * Other tests rely on that to see an order that librex forgot.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"
#include "driver.h"

/* Of the driver, by name. */
#define CALL(name, parameters, ...) (*(int(**) parameters) & (void *){in_driver(name)})(__VA_ARGS__)
#define DONE(name, parameters, ...) CHECK_EQUAL(CALL(name, parameters, __VA_ARGS__), 0)

enum { CELLS = 1000, BYTES = CELLS * 4 };
static void *stream, *other, *event, *kernel;
static uint64_t cells;
static uint32_t *host;

static uint32_t *at_device(uint64_t address)
{
    void *(*find)(uint64_t, size_t);
    void *found = in_driver("fake_cuda_memory");
    memcpy(&find, &found, sizeof find);
    return find(address, 4);
}

/* cells[i] += by, for each thread of the grid. */
static void add(const unsigned *grid, const unsigned *block, void **parameters)
{
    uint32_t *at = at_device(*(uint64_t *)parameters[0]);
    for (unsigned i = 0; i < grid[0] * block[0]; i++)
        at[i] += *(uint32_t *)parameters[1];
}

static void start(const char *order)
{
    static const size_t widths[] = {8, 4};
    void *context, *module, *memory;
    setenv("FAKE_CUDA_MEMORY", "16", 1);
    setenv("FAKE_CUDA_ORDER", order, 1);
    use_gpu(90);
    void (*name)(const char *, void (*)(const unsigned *, const unsigned *, void **), size_t, const size_t *);
    void *naming = in_driver("fake_cuda_kernel");
    memcpy(&name, &naming, sizeof name);
    name("add", add, 2, widths);
    DONE("cuInit", (unsigned), 0);
    DONE("cuDevicePrimaryCtxRetain", (void **, int), &context, 0);
    DONE("cuCtxPushCurrent_v2", (void *), context);
    DONE("cuModuleLoadData", (void **, const void *), &module, "");
    DONE("cuModuleGetFunction", (void **, void *, const char *), &kernel, module, "add");
    DONE("cuStreamCreate", (void **, unsigned), &stream, 1);
    DONE("cuStreamCreate", (void **, unsigned), &other, 1);
    DONE("cuEventCreate", (void **, unsigned), &event, 0);
    DONE("cuMemAlloc_v2", (uint64_t *, size_t), &cells, BYTES);
    DONE("cuMemHostAlloc", (void **, size_t, unsigned), &memory, BYTES, 0);
    host = memory;
    for (uint32_t i = 0; i < CELLS; i++)
        host[i] = i;
}

static void put_in(void *in)
{
    DONE("cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *), cells, host, BYTES, in);
}
static void put_out(void *in)
{
    DONE("cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *), host, cells, BYTES, in);
}
static void put_add(void *in, uint32_t by)
{
    void *parameters[] = {&cells, &by};
    DONE("cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), kernel,
         10, 1, 1, CELLS / 10, 1, 1, 0, in, parameters, NULL);
}
static void expect(uint32_t more)
{
    for (uint32_t i = 0; i < CELLS; i++)
        CHECK_EQUAL(host[i], i + more);
}

TEST_OF_EACH(work, const char *, order, "at once", "late")
{
    start(order);
    put_in(stream);
    put_add(stream, 7);
    put_out(stream);
    if (strcmp(order, "late") == 0)
        expect(0);
    DONE("cuStreamSynchronize", (void *), stream);
    expect(7);
    CHECK_EQUAL(CALL("cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *), cells + 8, host, BYTES, stream), 1);
    DONE("cuMemsetD32Async", (uint64_t, unsigned, size_t, void *), cells, 5, CELLS, stream);
    DONE("cuStreamSynchronize", (void *), stream);
    CHECK_EQUAL(at_device(cells)[CELLS - 1], 5);
    DONE("cuMemFree_v2", (uint64_t), cells);
    CHECK(at_device(cells) == NULL);
}

/* Without an event the streams know nothing of each other; with one, what has been recorded is done first. */
TEST_OF_EACH(order, bool, by_event, true, false)
{
    start("late");
    put_in(stream);
    if (by_event) {
        DONE("cuEventRecord", (void *, void *), event, stream);
        DONE("cuStreamWaitEvent", (void *, void *, unsigned), other, event, 0);
    }
    put_add(other, 1);
    put_out(other);
    DONE("cuStreamSynchronize", (void *), other);
    if (by_event)
        expect(1);
    else
        CHECK_EQUAL(host[0], 0xa5a5a5a6u);
}

/* Ordinary memory is read when it is put in; pinned memory, when the device gets there. */
TEST_IN_CHILD(reading)
{
    static uint32_t ordinary[CELLS];
    start("late");
    DONE("cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *), cells, ordinary, 4, stream);
    DONE("cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *), cells + 4, host, 4, stream);
    ordinary[0] = host[0] = 99;
    CHECK_EQUAL(CALL("cuStreamQuery", (void *), stream), 600);
    DONE("cuStreamQuery", (void *), stream);
    CHECK_EQUAL(at_device(cells)[0], 0);
    CHECK_EQUAL(at_device(cells)[1], 99);
    DONE("cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *), ordinary, cells + 4, 4, stream);
    CHECK_EQUAL(ordinary[0], 99);
}

/* ---- its own bounds --------------------------------------------------------------------------------------------------------------- */

/* What does not lie in one allocation is refused as the driver does. */
TEST_IN_CHILD(behind_memory)
{
    enum { INVALID_VALUE = 1, INVALID_DEVICE = 101 };
    void *context;
    start("early");
    DONE("cuCtxGetCurrent", (void **), &context);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(CALL("cuMemcpyPeerAsync", (uint64_t, void *, uint64_t, void *, size_t, void *), cells + (i == 0 ? 4 : 0), context,
                         cells + (i == 1 ? 4 : 0), context, BYTES, stream),
                    INVALID_VALUE);
    DONE("cuMemcpyPeerAsync", (uint64_t, void *, uint64_t, void *, size_t, void *), cells, context, cells + 4, context, BYTES - 4, stream);
    CHECK_EQUAL(CALL("cuMemsetD32Async", (uint64_t, unsigned, size_t, void *), cells, 1, SIZE_MAX / 4 + 2, stream), INVALID_VALUE);
    DONE("cuStreamWriteValue32_v2", (void *, uint64_t, unsigned, unsigned), NULL, cells, 1, 0);
    CHECK_EQUAL(CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, FAKE_GPUS), INVALID_DEVICE);
}
