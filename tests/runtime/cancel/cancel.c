/*
 * A thread that another one has cancelled ends in its next read() or write(), and the like. It does not end where it has a lock of librex's,
 * or registers a module: afterwards another thread does the same, and does not wait for ever.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <pthread.h>

#include <rex/device.h>
#include <rex/library.h>
#include <rex/queue.h>

REX_KERNEL(twice);

static int64_t values[8];

static void init(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

static void launch(void)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 1);
    int64_t count = 8;
    REX_MAP(args, REX_TOFROM(values, 8), REX_VALUE(count));
    assert_int_equal(rex_launch(&launch, &args), 0);
}

static void data(void)
{
    REX_MAP(args, REX_TOFROM(values, 8));
    assert_int_equal(rex_data_enter(-1, &args), 0);
    launch();
    assert_int_equal(rex_data_exit(-1, &args), 0);
}

static struct rex_queue *queue; /* of both threads */

static void use_queue(void)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 1);
    int64_t count = 8;
    REX_MAP(region, REX_TOFROM(values, 8));
    REX_MAP(args, REX_TOFROM(values, 8), REX_VALUE(count));
    if (queue == NULL)
        assert_int_equal(rex_queue_create(&queue, -1, "both", 0), 0);
    assert_int_equal(rex_data_enter(-1, &region), 0);
    assert_int_equal(launch_in(queue, &launch, &args), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(rex_data_exit(-1, &region), 0);
}

static unsigned char large[8 << 20];

static void copy(void)
{
    init();
    void *device = rex_device_alloc(sizeof large, -1);
    assert_non_null(device);
    assert_int_equal(rex_device_copy_to(device, large, sizeof large, -1), 0);
    assert_int_equal(rex_device_copy_from(large, device, sizeof large, -1), 0);
    rex_device_free(device, -1);
}

static void library(void)
{
    struct rex_library *loaded = NULL;
    if (!loads_late()) {
        assert_true(rex_library_load(&loaded, -1, NULL, 0, "rex_lib_nvidia.cubin:rex_lib_host.so") == 0 || loaded == NULL);
        return;
    }
    assert_int_equal(rex_library_load(&loaded, -1, NULL, 0, "rex_lib_nvidia.cubin:rex_lib_host.so"), 0);
    assert_int_equal(rex_library_unload(loaded), 0);
}

static void fini(void)
{
    init();
    assert_int_equal(rex_offload_fini(), 0);
}

static void refused(void)
{
    assert_int_equal(rex_module_register(NULL, NULL), REX_EINVAL);
    assert_true(rex_configure(REX_OPTION_CHECK, "nothing of the kind") < 0);
}

/* ---- in a thread that is cancelled, then in another --------------------------------------------------------------------------------- */

static void *use_cancelled(void *use)
{
    void (*function)(void);
    memcpy(&function, use, sizeof function);
    pthread_cancel(pthread_self());
    function();
    function(); /* the first has left the thread as it was */
    pthread_testcancel();
    return NULL;
}

static void cancel(void (*use)(void))
{
    pthread_t thread;
    void *end;
    assert_int_equal(rex_configure(REX_OPTION_COPY_THREADS, "2"), 0);
    alarm(100);
    assert_int_equal(pthread_create(&thread, NULL, use_cancelled, &use), 0);
    assert_int_equal(pthread_join(thread, &end), 0);
    assert_ptr_equal(end, PTHREAD_CANCELED);
    use();
}

/* Once for the first use of all, and once more. */
#define CANCELLED(use)                          \
    TEST(cancelled_##use) \
    { \
        cancel(use);                            \
        cancel(use);                            \
    }
CANCELLED(init)
CANCELLED(launch)
CANCELLED(data)
CANCELLED(use_queue)
CANCELLED(copy)
CANCELLED(library)
CANCELLED(fini)

/* NAME in the test's folder, as the value of VARIABLE after BEFORE. */
static void write_to(const char *variable, const char *before, const char *name)
{
    char value[PATH_MAX + 32];
    const char *folder = getenv("TMPDIR");
    snprintf(value, sizeof value, "%s%s/%s", before, folder != NULL ? folder : "/tmp", name);
    assert_int_equal(setenv(variable, value, 1), 0);
}

TEST(cancelled_log)
{
    write_to("REX_LOG", "debug:", "log");
    cancel(refused);
    cancel(data);
}

TEST(cancelled_trace)
{
    write_to("REX_TRACE", "", "trace.json");
    cancel(data);
    cancel(use_queue);
}
