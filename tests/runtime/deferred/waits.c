/*
 * Calls that wait for the deferred launches, whatever their rows are, and launches that are not
 * deferred: each is made by another thread while a kernel is held.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "deferred.h"

#include <rex/interop.h>

int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset,
                             int device);
int omp_target_disassociate_ptr(const void *host, int device);

static int64_t z[CELLS], large[CELLS], held; /* kernels so far */
static int64_t *pinned, *memory, *others;    /* others: librex did not allocate it */
static void *registered;
static struct rex_queue *queue;

/* ---- data ------------------------------------------------------------------------------------ */

static int begin_mapped(void)
{
    return map_array(rex_data_enter, x, TOFROM);
}

static int end_not_last(void)
{
    return map_array(rex_data_exit, x, TOFROM);
}

static int begin_other(void)
{
    return map_array(rex_data_enter, z, TOFROM);
}

static int end_other(void)
{
    return map_array(rex_data_exit, z, TOFROM);
}

/* The kernel's result is there. */
static int update(void)
{
    int result = map_array(rex_data_update, x, FROM);
    return result == REX_OK && x[0] != held ? -1 : result;
}

static int update_by_forwarder(void)
{
    REX_MAP(map, REX_FROM(x, CELLS));
    __rex_real___tgt_target_data_update(-1, REX_MAP_ARGUMENTS(map));
    return x[0] == held ? REX_OK : -1;
}

static int begin_by_forwarder(void)
{
    REX_MAP(map, REX_TOFROM(z, CELLS));
    __rex_real___tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(map));
    return REX_OK;
}

static int end_by_forwarder(void)
{
    REX_MAP(map, REX_TOFROM(z, CELLS));
    __rex_real___tgt_target_data_end(-1, REX_MAP_ARGUMENTS(map));
    return REX_OK;
}

static int update_by_wrapper(void)
{
    REX_MAP(map, REX_FROM(x, CELLS));
    __tgt_target_data_update(-1, REX_MAP_ARGUMENTS(map));
    return x[0] == held ? REX_OK : -1;
}

static int copy_to(void)
{
    return rex_device_copy_to(memory, y, sizeof y, -1);
}

static int copy_from(void)
{
    return rex_device_copy_from(z, memory, sizeof z, -1);
}

static int free_memory(void)
{
    rex_device_free(rex_device_alloc(8, -1), -1);
    return REX_OK;
}

static int associate(void)
{
    return omp_target_associate_ptr(large, others, sizeof large, 0, 0);
}

static int disassociate(void)
{
    return omp_target_disassociate_ptr(large, 0);
}

/* ---- others ---------------------------------------------------------------------------------- */

static int pin(void)
{
    return rex_host_register(registered, 4096);
}

static int unpin(void)
{
    return rex_host_unregister(registered);
}

static int free_pinned(void)
{
    return rex_host_free(rex_host_alloc(8));
}

static int sync_device(void)
{
    return rex_device_sync(-1);
}

/* There is none, but it would be looked for. */
static int find_global(void)
{
    return rex_queue_global(queue, x) == NULL ? REX_OK : -1;
}

static int switch_off(void)
{
    int result = rex_configure(REX_OPTION_LAUNCH_BLOCKING, "on");
    return result == REX_OK ? rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off") : result;
}

/* ---- launches -------------------------------------------------------------------------------- */

static int launch_nowait(void)
{
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    REX_MAP(map, REX_VALUE(INT64_C(1)), REX_ALLOC(y, CELLS));
    config.flags = REX_LAUNCH_NOWAIT;
    return rex_launch(&config, &map);
}

static int launch_always(void)
{
    return LAUNCH(add, REX_VALUE(INT64_C(1)), REX_ALWAYS(REX_TO(y, CELLS)));
}

static int launch_absent(void)
{
    return LAUNCH(add, REX_VALUE(INT64_C(1)), REX_TOFROM(z, CELLS));
}

static int launch_by_runtime(void)
{
    int64_t one;
    struct rows rows;
    struct __tgt_kernel_arguments packet = packet_of_add(&rows, &one);
    packet.Version = 2; /* of a plain kernel */
    return __rex_real___tgt_target_kernel(NULL, -1, 1, 1, REX_KERNEL_ID(add), &packet);
}

/* Of a word of the host's memory, which the kernel writes. */
static int launch_with_pinned(void)
{
    pinned[0] = 0;
    int result = LAUNCH(set, REX_VALUE((int64_t)(intptr_t)pinned));
    return result == REX_OK && pinned[0] != 1 ? -1 : result;
}

static int launch_on_others(void)
{
    return LAUNCH(add, REX_VALUE(INT64_C(1)), REX_IS_DEVICE_PTR(others));
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define WAY(name)   \
    {               \
#name, name \
    }
/* After the last one mappings are looked for again, and launches on them are waited for. */
static const struct {
    const char *name;
    int (*call)(void);
} ways[] = {WAY(begin_mapped),
            WAY(end_not_last),
            WAY(begin_other),
            WAY(end_other),
            WAY(update),
            WAY(update_by_forwarder),
            WAY(begin_by_forwarder),
            WAY(end_by_forwarder),
            WAY(update_by_wrapper),
            WAY(copy_to),
            WAY(copy_from),
            WAY(free_memory),
            WAY(pin),
            WAY(unpin),
            WAY(free_pinned),
            WAY(sync_device),
            WAY(find_global),
            WAY(switch_off),
            WAY(launch_nowait),
            WAY(launch_always),
            WAY(launch_absent),
            WAY(launch_by_runtime),
            WAY(launch_with_pinned),
            WAY(launch_on_others),
            WAY(associate),
            WAY(disassociate)};

/* What would see the kernel's result, or end its memory, waits for it. */
TEST(others_wait, .gpu = ON_GPU)
{
    void *(*allocate)(size_t size, int device);
    start();
    find(dlopen(rex_runtime_path(), RTLD_NOW | RTLD_LOCAL), "omp_target_alloc", &allocate);
    pinned = rex_host_alloc(4096);
    memory = rex_device_alloc(sizeof x, -1);
    others = allocate(sizeof x, 0);
    registered = aligned_alloc(4096, 4096);
    assert_true(pinned != NULL && memory != NULL && others != NULL && registered != NULL);
    OK(rex_queue_create(&queue, -1, NULL, 0));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        /* LLVM 18 launches no plain kernel. */
        if (release_of_test() == 18 &&
            (ways[i].call == launch_by_runtime || ways[i].call == launch_nowait))
            continue;
        prepare();
        OK(hold_x());
        held++;
        expect_wait(ways[i].name, ways[i].call);
    }
    OK(map_array(rex_data_exit, x, TOFROM));
    assert_int_equal(x[0], held);
    free(registered);
    finish();
}

/* ---- streams of a device --------------------------------------------------------------------- */

static int lend_stream(void)
{
    void *stream;
    return rex_queue_stream(queue, &stream, NULL);
}

/* The program may then see the kernel's work without a call of librex: no launch returns before. */
static void expect_end_of_deferral(const char *name, int (*gives_stream)(void))
{
    start();
    OK(rex_queue_create(&queue, -1, NULL, 0));
    prepare();
    OK(hold_x());
    expect_wait(name, gives_stream);
    prepare();
    expect_wait("hold", hold_x);
    OK(map_array(rex_data_exit, x, TOFROM));
    assert_int_equal(x[0], 2);
    finish();
}

TEST(stream_is_lent, .gpu = ON_GPU)
{
    expect_end_of_deferral("rex_queue_stream", lend_stream);
}

static int take_stream(void)
{
    int (*create)(void **stream, unsigned flags), (*push)(void *context), (*pop)(void **context);
    int (*retain)(void **context, int device);
    void *stream, *context;
    struct rex_queue *from;
    find(driver(), "cuDevicePrimaryCtxRetain", &retain);
    find(driver(), "cuCtxPushCurrent_v2", &push);
    find(driver(), "cuCtxPopCurrent_v2", &pop);
    find(driver(), "cuStreamCreate", &create);
    int result = retain(&context, 0) + push(context) + create(&stream, 1) + pop(&context);
    return result == 0 ? rex_queue_from_stream(&from, -1, stream, NULL, 0) : result;
}

TEST(stream_is_taken, .gpu = ON_GPU)
{
    expect_end_of_deferral("rex_queue_from_stream", take_stream);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int end_module(void)
{
    return rex_offload_fini();
}

TEST(end_of_the_module_waits, .gpu = ON_GPU)
{
    start();
    prepare();
    OK(hold_x());
    expect_wait("rex_offload_fini", end_module);
}
