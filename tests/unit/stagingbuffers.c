/*
 * stagingbuffers.c - what the threads that copy have of the driver: that it is given back, and when; and what is said where they lack
 * something, or what they do with it fails.
 *
 * The driver is a fake with device memory, which does nothing before somebody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "copying.h"

#include "memory/copythreads.h"

/* Ranges of the host's memory that are pinned. */
static int pinned(void)
{
    int (*count)(void);
    void *found = in_driver("fake_cuda_pinned");
    memcpy(&count, &found, sizeof count);
    return count();
}

static void *current_context(void)
{
    void *context = NULL;
    int (*get)(void **);
    void *found = in_driver("cuCtxGetCurrent");
    memcpy(&get, &found, sizeof get);
    return get(&context) == 0 ? context : NULL;
}

/* Bytes go there and back in chunks where threads copy, and at once where the driver does. */
static void copy_by(bool threads, unsigned seed)
{
    int to = driver_calls("cuMemcpyHtoDAsync"), from = driver_calls("cuMemcpyDtoHAsync");
    there_and_back(1, 6 * MIB, seed);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync") - to, threads ? 6 : 1);
    CHECK_EQUAL(driver_calls("cuMemcpyDtoHAsync") - from, threads ? 6 : 1);
}

static void expect_nothing(void)
{
    CHECK_EQUAL(pinned(), 0);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK(current_context() == NULL);
}

/* ---- given back ---------------------------------------------------------------------------------------------------------------------- */

/* Two chunks for each thread, a stream and two events, made once; all goes with the last module, and is made again for the next one. */
TEST_OF_EACH(give_back, const char *, order, "late", "at once")
{
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    for (unsigned round = 0; round < 3; round++) {
        start(order, "3");
        int objects = driver_objects(), users = context_users();
        copy_by(true, round);
        CHECK_EQUAL(pinned(), 6);
        CHECK_EQUAL(*(unsigned *)in_driver("fake_cuda_host_flags"), 1); /* pinned for all contexts */
        CHECK_EQUAL(driver_objects(), objects + 3 * 3);
        CHECK_EQUAL(context_users(), users + 3);
        copy_by(true, round + 10);
        CHECK(pinned() == 6 && driver_objects() == objects + 3 * 3 && context_users() == users + 3);
        CHECK(current_context() == NULL);
        finish();
        expect_nothing();
    }
}

/* Where the threads are busy at the end of the last module, the next copy gives back what they have. */
TEST_IN_CHILD(give_back_later)
{
    start("late", "3");
    copy_by(true, 1);
    CHECK(rex_copy_threads_take());
    finish();
    CHECK_EQUAL(pinned(), 6);
    rex_copy_threads_give();
    start("late", "3");
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 6 * MIB), REX_OK);
    CHECK_EQUAL(pinned(), 0);
    copy_by(true, 2);
    CHECK_EQUAL(pinned(), 6);
    finish();
    expect_nothing();
}

/* Nobody can say that the device is done with the chunks: they and the stream go, and new ones are made. */
TEST_IN_CHILD(discard)
{
    start("late", "2");
    int objects = driver_objects();
    copy_by(true, 1);
    fill(host, 6 * MIB, 2);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:2:0", 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, 6 * MIB, 0), REX_OK);
    CHECK(memcmp(bytes_at_device(device, 6 * MIB), host, 6 * MIB) == 0); /* by libomptarget */
    CHECK_EQUAL(pinned(), 0);
    CHECK_EQUAL(driver_objects(), objects);
    /* once, also where there can be no new ones */
    setenv("FAKE_CUDA_BREAKS", "cuStreamCreate:2:0", 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, 6 * MIB, 0), REX_OK);
    CHECK_EQUAL(driver_objects(), objects);
    unsetenv("FAKE_CUDA_BREAKS");
    copy_by(true, 3);
    CHECK_EQUAL(pinned(), 4);
    finish();
    expect_nothing();
}

/* No more threads have something than there are chunks to copy. */
TEST_IN_CHILD(use_few)
{
    start("late", "8");
    there_and_back(0, 4 * MIB, 1);
    CHECK_EQUAL(pinned(), 2 * 4);
    there_and_back(0, 4 * MIB + 1, 2);
    CHECK_EQUAL(pinned(), 2 * 5);
    there_and_back(0, MOST * MIB, 3);
    CHECK_EQUAL(pinned(), 2 * 8);
    finish();
    expect_nothing();
}

/* ---- what they lack ------------------------------------------------------------------------------------------------------------------ */

/* Of NAME, the N-th call fails, or each. */
struct failure {
    const char *name;
    int number; /* 0: each */
    const char *threads;
    uint32_t by_runtime; /* copies that libomptarget is then asked for */
};

/* Every byte is right, and later threads copy again. */
static void copy_without(const void *context)
{
    const struct failure *failure = context;
    char breaks[96];
    setenv("REX_LOG", "info", 1);
    start("late", failure->threads);
    snprintf(breaks, sizeof breaks, "%s:2:%d", failure->name, failure->number);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    uint32_t touches = the_record()->touches;
    fill(host, 6 * MIB, 1);
    CHECK_EQUAL(rex_device_copy_to(device, host, 6 * MIB, 0), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(back, device, 6 * MIB, 0), REX_OK);
    CHECK_EQUAL(the_record()->touches, touches + failure->by_runtime);
    CHECK(memcmp(back, host, 6 * MIB) == 0);
    unsetenv("FAKE_CUDA_BREAKS");
    copy_by(true, 2);
    finish();
    expect_nothing();
}

/* The log says for each such copy why. */
static void expect_said(struct failure failure)
{
    char said[128];
    const char *output = in_child(copy_without, &failure);
    snprintf(said, sizeof said, "6291456 bytes were not copied by threads, but by the driver: %s: CUDA_ERROR_", failure.name);
    if (occurrences(output, said) != (int)failure.by_runtime || occurrences(output, "not copied") != (int)failure.by_runtime)
        fail_msg("not %u times \"%s\" in:\n%s", failure.by_runtime, said, output);
}

/* No thread can be started, then two, then all. */
static void start_few(const void *unused)
{
    (void)unused;
    setenv("REX_LOG", "info", 1);
    start("late", "3");
    threads_left = 0;
    copy_by(false, 1);
    threads_left = 2;
    copy_by(true, 2);
    CHECK_EQUAL(pinned(), 4);
    threads_left = -1;
    copy_by(true, 3);
    CHECK_EQUAL(pinned(), 6);
    finish();
    expect_nothing();
}

/* A driver that is too old for queues has nothing for them: libomptarget copies. */
TEST_IN_CHILD(have_old_driver)
{
    static unsigned char bytes[8 * MIB];
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    setenv("REX_COPY_THREADS", "3", 1);
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    setenv("FAKE_CUDA_SM", "90", 1);
    use_release(16);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    unsigned char *memory = rex_device_alloc(sizeof bytes, 0);
    CHECK(memory != NULL);
    uint32_t touches = the_record()->touches;
    CHECK_EQUAL(rex_device_copy_to(memory, bytes, sizeof bytes, 0), REX_OK);
    CHECK_EQUAL(the_record()->touches, touches + 1);
    rex_device_free(memory, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* What is in the queue's stream cannot be waited for: the driver is to say what that means. */
TEST_IN_CHILD(wait_in_vain)
{
    start("late", "3");
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:2:1", 1);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 6 * MIB), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), 1);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    copy_by(true, 1);
    finish();
}

/* All of an allocation, up to where other memory begins or none. */
TEST_IN_CHILD(copy_whole)
{
    start("late", "3");
    unsigned char *memory = rex_device_alloc(6 * MIB, 0), *exact = new_bytes(6 * MIB);
    CHECK(memory != NULL);
    fill(exact, 6 * MIB, 1);
    CHECK_EQUAL(rex_queue_copy_to(queue, memory, exact, 6 * MIB), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), 6);
    CHECK(memcmp(bytes_at_device(memory, 6 * MIB), exact, 6 * MIB) == 0);
    rex_device_free(memory, 0);
    finish();
}

TEST(test_lacking)
{
    static const char *const calls[] = {"cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuDevicePrimaryCtxRetain",
                                        "cuCtxPushCurrent"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        expect_said((struct failure){calls[i], 0, "3", 2});
        expect_said((struct failure){calls[i], 1, "1", 1});
        expect_said((struct failure){calls[i], 1, "3", 0}); /* the other threads copy all */
    }
    const char *output = in_child(start_few, NULL);
    assert_int_equal(occurrences(output, "6291456 bytes were not copied by threads, but by the driver: no thread could be started"), 2);
    assert_int_equal(occurrences(output, "large copies of ordinary memory are made by 2 threads"), 1);
    assert_int_equal(occurrences(output, "large copies of ordinary memory are made by 3 threads"), 1);
    assert_int_equal(occurrences(output, "large copies of ordinary memory"), 2);
}

/* Of one thread, so that the calls have an order: whichever fails, its copy is made again. */
TEST(test_failing)
{
    static const struct {
        const char *name;
        int calls, ways;
    } calls[] = {{"cuMemcpyHtoDAsync", 6, 1},
                 {"cuMemcpyDtoHAsync", 6, 1},
                 {"cuEventRecord", 12, 2},
                 {"cuEventSynchronize", 10, 2}, /* of the first two chunks nobody waits to fill them */
                 {"cuStreamSynchronize", 2, 2}};
    for (size_t i = 0; i < COUNT(calls); i++) {
        expect_said((struct failure){calls[i].name, 0, "1", (uint32_t)calls[i].ways});
        for (int number = 1; number <= calls[i].calls; number++)
            expect_said((struct failure){calls[i].name, number, "1", 1});
    }
}
