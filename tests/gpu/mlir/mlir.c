/*
 * What lowered code asks of librex-mlir: copies between memory of every kind, fills, streams, events, memory from the pool, registration of
 * the host's memory, launches with and without a stream, and the first error. script/mlir runs this on the fake GPU, which computes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex.h>

#include "../../../examples/mlir/runtime/mlir.h"

enum { COUNT = 50000 };
#define BYTES (COUNT * sizeof(uint32_t))

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            const char *message_;                                                       \
            int code_ = rex_mlir_error(&message_);                                      \
            fprintf(stderr, "line %d: not %s; error %d: %s\n", __LINE__, #condition, code_, message_); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

static uint32_t sent[COUNT], got[COUNT];

static int no_error(void)
{
    const char *message;
    int code = rex_mlir_error(&message);
    if (code != 0)
        fprintf(stderr, "error %d: %s\n", code, message);
    return code == 0;
}

static uint32_t *new_memory(struct rex_queue *stream)
{
    uint32_t *memory = mgpuMemAlloc(BYTES, stream, 0);
    CHECK(memory != NULL);
    return memory;
}

/* From the host to the device, there to another allocation, within one, and back. STREAM is NULL: done at each return. */
static void copies(struct rex_queue *stream)
{
    uint32_t *first = new_memory(stream), *second = new_memory(stream);
    for (uint32_t i = 0; i < COUNT; i++)
        sent[i] = i * 7 + (stream != NULL), got[i] = 0;
    mgpuMemcpy(first, sent, BYTES, stream);
    mgpuMemcpy(second, first, BYTES, stream);
    mgpuMemset32(first, 5, COUNT, stream); /* no part of what comes back */
    mgpuMemcpy(second + COUNT / 2, second, BYTES / 4, stream);
    mgpuMemcpy(got, second, BYTES, stream);
    if (stream != NULL)
        mgpuStreamSynchronize(stream);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK(got[i] == sent[i >= COUNT / 2 && i < COUNT / 2 + COUNT / 4 ? i - COUNT / 2 : i]);
    mgpuMemcpy(got, sent, BYTES, stream); /* neither is the device's */
    mgpuMemcpy(got, sent, 0, stream);
    CHECK(memcmp(got, sent, BYTES) == 0);
    mgpuMemFree(first, stream);
    mgpuMemFree(second, stream);
    CHECK(no_error());
}

static void fills(struct rex_queue *stream)
{
    uint32_t *memory = new_memory(stream);
    mgpuMemset32(memory, 0x12345678, COUNT, stream);
    mgpuMemset16(memory, 0xabcd, COUNT, stream); /* the first half of it */
    mgpuMemcpy(got, memory, BYTES, stream);
    mgpuStreamSynchronize(stream);
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i] == (i < COUNT / 2 ? 0xabcdabcd : 0x12345678));
    mgpuMemFree(memory, stream);
    CHECK(no_error());
}

/* What a second stream does behind an event of the first. */
static void events(struct rex_queue *stream)
{
    struct rex_queue *other = mgpuStreamCreate();
    struct rex_event *filled = mgpuEventCreate();
    CHECK(other != NULL && filled != NULL);
    uint32_t *memory = new_memory(stream);
    mgpuMemset32(memory, 11, COUNT, stream);
    mgpuEventRecord(filled, stream);
    mgpuStreamWaitEvent(other, filled);
    mgpuMemcpy(got, memory, BYTES, other);
    mgpuEventSynchronize(filled);
    mgpuStreamDestroy(other);
    CHECK(got[0] == 11 && got[COUNT - 1] == 11);
    mgpuEventDestroy(filled);
    mgpuMemFree(memory, stream);
    CHECK(no_error());
}

/* What was freed in a stream is used again there at once, and in another one when the first is done. */
static void pool(struct rex_queue *stream)
{
    struct rex_queue *other = mgpuStreamCreate();
    mgpuStreamSynchronize(stream);
    uint32_t *memory = new_memory(stream);
    mgpuMemFree(memory, stream);
    CHECK(new_memory(stream) == memory);
    mgpuMemFree(memory, stream);
    uint32_t *elsewhere = mgpuMemAlloc(BYTES, other, 0);
    CHECK(elsewhere != NULL && elsewhere != memory);
    mgpuMemFree(elsewhere, other);
    mgpuStreamDestroy(other);
    CHECK(no_error());
}

/* A memref's elements from its offset on, and memory that host and device share. */
static void of_the_host(struct rex_queue *stream)
{
    static struct {
        uint32_t *allocated, *aligned;
        int64_t offset, sizes[2], strides[2];
    } memref = {sent, sent, 16, {100, 50}, {50, 1}};
    uint32_t *device = new_memory(stream), *shared = mgpuMemAlloc(BYTES, stream, 1);
    CHECK(shared != NULL);
    mgpuMemHostRegisterMemRef(2, &memref, sizeof *sent);
    for (uint32_t i = 0; i < COUNT; i++)
        sent[i] = i + 3;
    mgpuMemcpy(device, sent + 16, 100 * 50 * sizeof *sent, stream);
    mgpuMemcpy(shared, device, 100 * 50 * sizeof *sent, stream);
    mgpuStreamSynchronize(stream);
    CHECK(memcmp(shared, sent + 16, 100 * 50 * sizeof *sent) == 0);
    mgpuMemHostUnregisterMemRef(2, &memref, sizeof *sent);
    mgpuMemHostRegister(got, sizeof got);
    mgpuMemHostUnregister(got);
    mgpuMemFree(shared, stream);
    mgpuMemFree(device, stream);
    mgpuMemFree(NULL, stream);
    CHECK(no_error());
}

/* Memory, streams and calls without one, each on the device that was the default one; copies between the two. */
static void two_devices(void)
{
    mgpuSetDefaultDevice(1);
    struct rex_queue *stream = mgpuStreamCreate();
    uint32_t *second = new_memory(NULL);
    mgpuSetDefaultDevice(0);
    uint32_t *first = new_memory(NULL);
    CHECK(rex_queue_device(stream) == 1);
    for (uint32_t i = 0; i < COUNT; i++)
        sent[i] = i * 3 + 1, got[i] = 0;
    mgpuMemcpy(first, sent, BYTES, NULL);
    mgpuMemcpy(second, first, BYTES, stream);
    mgpuStreamSynchronize(stream);
    mgpuMemset32(first, 9, COUNT, NULL);
    mgpuMemcpy(got, second, BYTES, NULL);
    CHECK(memcmp(got, sent, BYTES) == 0);
    mgpuMemcpy(second, first, BYTES, NULL);
    mgpuMemcpy(got, second, BYTES, stream);
    mgpuMemFree(second, NULL);
    mgpuStreamDestroy(stream);
    CHECK(got[0] == 9 && got[COUNT - 1] == 9);
    /* The second device's is no memory of the first. */
    uint32_t *third = new_memory(NULL);
    CHECK(third != second);
    mgpuMemFree(third, NULL);
    mgpuSetDefaultDevice(1);
    CHECK(new_memory(NULL) == second);
    mgpuMemFree(second, NULL);
    mgpuMemFree(first, NULL);
    mgpuSetDefaultDevice(0);
    CHECK(no_error());
    puts("two devices, too");
}

/* The next error has both texts, and is forgotten then. */
static void expect(const char *first, const char *second)
{
    const char *message;
    int code = rex_mlir_error(&message);
    if (code >= 0 || strstr(message, first) == NULL || strstr(message, second) == NULL) {
        fprintf(stderr, "\"%s\" and \"%s\" are not in error %d: %s\n", first, second, code, message);
        exit(1);
    }
    CHECK(no_error());
}

/* Each thread writes a + b + c into its place of out. The image that the fake driver makes of it has a kernel of that name, too. */
static const char code[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                           ".visible .entry narrow__kernel__(.param .u64 out, .param .u32 a, .param .f32 b, .param .f64 c)\n{\n"
                           ".reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<2>;\n.reg .f64 %d<4>;\n"
                           "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [a];\nld.param.f32 %f1, [b];\nld.param.f64 %d1, [c];\n"
                           "cvt.rn.f64.s32 %d2, %r1;\ncvt.f64.f32 %d3, %f1;\n"
                           "add.f64 %d1, %d1, %d2;\nadd.f64 %d1, %d1, %d3;\n"
                           "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
                           "st.f64 [%rd3], %d1;\nret;\n}\n";

static void launches(struct mlir_module *module, struct rex_queue *stream)
{
    enum { THREADS = 64, DYNAMIC = 64 * 1024 };
    struct mlir_function *function = mgpuModuleGetFunction(module, "narrow__kernel__");
    CHECK(function != NULL && mgpuModuleGetFunction(module, "narrow__kernel__") == function);
    double *out = mgpuMemAlloc(THREADS * sizeof *out, stream, 0), sums[THREADS], c = 0.25;
    int32_t a = -3;
    float b = 1.5f;
    void *arguments[] = {&out, &a, &b, &c};
    bool computes = getenv("FAKE_LINK_CUBIN") == NULL;
    for (int i = 0; i < 3; i++) {
        struct rex_queue *of = i == 0 ? NULL : stream;
        c += 1;
        mgpuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, i == 2 ? DYNAMIC : 0, of, arguments, NULL, 4);
        mgpuMemcpy(sums, out, sizeof sums, of);
        mgpuStreamSynchronize(stream);
        CHECK(no_error());
        for (int j = 0; computes && j < THREADS; j++)
            CHECK(sums[j] == -1.5 + c);
    }
    if (computes) {
        mgpuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, NULL, 4);
        expect("mgpuLaunchKernel of narrow__kernel__: ", "2048 x 1 x 1 threads");
    }
    mgpuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, stream, arguments, NULL, 3);
    expect("mgpuLaunchKernel of narrow__kernel__: ", "the number of arguments is 3, and must be 4");
    mgpuMemFree(out, stream);
}

static void errors(struct mlir_module *module, struct rex_queue *stream)
{
    CHECK(mgpuModuleGetFunction(module, "no_such_kernel") == NULL);
    expect("mgpuModuleGetFunction of no_such_kernel", "no kernel \"no_such_kernel\"");
    CHECK(mgpuModuleGetFunction(NULL, "kernel") == NULL);
    expect("mgpuModuleGetFunction", "there is no module");
    mgpuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL, 0);
    mgpuMemHostUnregister(sent); /* the first error stays */
    expect("mgpuLaunchKernel", "there is no kernel");
    mgpuMemHostUnregister(sent);
    expect("mgpuMemHostUnregister", "");
    mgpuSetDefaultDevice(-2);
    expect("mgpuSetDefaultDevice", "the number is not from 0 to 63");
    CHECK(mgpuModuleLoad(sent, sizeof sent) == NULL);
    expect("mgpuModuleLoad", "MLIR's module");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static bool is_full;

/* librex-mlir's calls come here. */
void *__libc_calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size)
{
    return is_full ? NULL : __libc_calloc(count, size);
}

static void expect_no_memory(const void *result, const char *call)
{
    const char *message;
    int error = rex_mlir_error(&message);
    is_full = false;
    CHECK(result == NULL && error == REX_ENOMEM && strncmp(message, call, strlen(call)) == 0 && strstr(message, ": out of memory") != NULL);
}

static void host_memory_is_short(struct rex_queue *stream)
{
    struct mlir_module *module = mgpuModuleLoadJIT((void *)(uintptr_t)code, 2);
    is_full = true;
    expect_no_memory(mgpuModuleLoadJIT((void *)(uintptr_t)code, 2), "mgpuModuleLoad");
    is_full = true;
    expect_no_memory(mgpuModuleGetFunction(module, "narrow__kernel__"), "mgpuModuleGetFunction");
    is_full = true;
    expect_no_memory(mgpuMemAlloc(3 * BYTES, stream, 0), "mgpuMemAlloc");
    mgpuModuleUnload(module);
}
#else
static void host_memory_is_short(struct rex_queue *stream)
{
    (void)stream;
}
#endif

int main(void)
{
    struct mlir_module *module = mgpuModuleLoadJIT((void *)(uintptr_t)code, 2);
    CHECK(module != NULL);
    struct rex_queue *stream = mgpuStreamCreate();
    CHECK(stream != NULL);
    copies(stream);
    copies(NULL);
    fills(stream);
    events(stream);
    pool(stream);
    of_the_host(stream);
    launches(module, stream);
    errors(module, stream);
    host_memory_is_short(stream);
    if (rex_device_count() > 1)
        two_devices();
    mgpuStreamDestroy(stream);
    mgpuModuleUnload(module);
    CHECK(no_error());
    puts("copies, fills, events, memory, launches and errors are as they should be");
    return 0;
}
